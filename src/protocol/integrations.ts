export const INTEGRATIONS_PATH = '/cdi/integrations';

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
