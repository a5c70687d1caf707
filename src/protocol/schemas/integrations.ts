import * as z from 'zod/mini';
import type { IntegrationsAnswer, JobSyncStatusAnswer } from '../integrations.ts';

/** Every member is text from us; a member that is not there may be `null` from others. */
const text = z.pipe(
  z.nullable(z.string()),
  z.transform((value) => value ?? ''),
);

export const integration = z.object({
  integration_id: z.string(),
  app_group_id: text,
  integration_name: text,
  integration_type: text,
  integration_status: text,
  contact_emails: text,
  last_updated_at: text,
  warehouse_type: text,
  last_job_start_time: text,
  last_job_status: text,
  next_scheduled_run: text,
});

/** 200 of `GET /cdi/integrations`. */
export const integrationsAnswer = z.object({
  results: z.array(integration),
  message: z.string(),
}) satisfies z.ZodMiniType<IntegrationsAnswer>;

/** 200 of `GET /cdi/integrations/{integration_id}/job_sync_status`. */
export const jobSyncStatusAnswer = z.object({
  results: z.array(
    z.object({
      job_status: z.string(),
      sync_start_time: text,
      sync_finish_time: text,
      last_timestamp_synced: text,
      rows_synced: z.number(),
      rows_failed_with_errors: z.number(),
    }),
  ),
  message: z.string(),
}) satisfies z.ZodMiniType<JobSyncStatusAnswer>;
