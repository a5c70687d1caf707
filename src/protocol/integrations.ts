export const INTEGRATIONS_PATH = '/cdi/integrations';
/** Templates: `{integration_id}` is an integration's ID, percent-encoded. */
export const INTEGRATION_SYNC_PATH = '/cdi/integrations/{integration_id}/sync';
export const JOB_SYNC_STATUS_PATH = '/cdi/integrations/{integration_id}/job_sync_status';

/**
 * One data-ingestion integration. Every member is text; a never-run integration has `""` for times. `contact_emails` is one
 * text even for several addresses.
 */
export interface Integration {
  integration_id: string;
  app_group_id: string;
  integration_name: string;
  integration_type: string;
  integration_status: string;
  contact_emails: string;
  last_updated_at: string;
  warehouse_type: string;
  last_job_start_time: string;
  last_job_status: string;
  next_scheduled_run: string;
}

/** 200 of `GET /cdi/integrations`. */
export interface IntegrationsAnswer {
  results: Integration[];
  message: string;
}

/** One run of an integration. */
export interface JobSyncStatus {
  /** `running`, `success`, `partial` or `error`. */
  job_status: string;
  sync_start_time: string;
  /** `""` while it runs. */
  sync_finish_time: string;
  /** `UPDATED_AT` of the last row that was read; `""` before the first. */
  last_timestamp_synced: string;
  rows_synced: number;
  rows_failed_with_errors: number;
}

/** 200 of `GET /cdi/integrations/{integration_id}/job_sync_status`. */
export interface JobSyncStatusAnswer {
  results: JobSyncStatus[];
  message: string;
}
