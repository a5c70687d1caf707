import * as z from 'zod/mini';
import type { Integration, JobSyncStatus } from '../integrations.ts';
import { described } from './body.ts';

/** Creates the schema of a string. Other servers may send `null` for missing values. */
const text = (description: string) =>
  z.pipe(
    z.transform((value) => value ?? ''),
    z.string().check(described(description)),
  );

const integration: z.ZodMiniType<Integration> = z.object({
  integration_id: z.string().check(described('ID of the integration.')),
  app_group_id: text('ID of the workspace.'),
  integration_name: text('For people.'),
  integration_type: text('Kind of the synced rows.'),
  integration_status: text('Whether it is active.'),
  contact_emails: text('Email addresses of contacts, separated by commas.'),
  last_updated_at: text('When it was changed.'),
  warehouse_type: text('Kind of the source.'),
  last_job_start_time: text('When it last ran.'),
  last_job_status: text('How that ended.'),
  next_scheduled_run: text('When it runs next.'),
});

const jobSyncStatus: z.ZodMiniType<JobSyncStatus> = z.object({
  job_status: z
    .string()
    .check(described('`Running`, `Success`, `Partial` (some rows were rejected) or `Error`.')),
  sync_start_time: text('When the run began, ISO 8601.'),
  sync_finish_time: text('When it ended; empty while it runs.'),
  last_timestamp_synced: text('`UPDATED_AT` of the last row that was read; empty before the first.'),
  rows_synced: z.int().check(described('Rows that are stored.')),
  rows_failed_with_errors: z.int().check(described('Rows that were rejected in this run and not before.')),
  message: text('Why it failed, or what it left for a later run; empty if there is nothing to say.'),
});

const message = z.string().check(described('`success`, or what is wrong.'));
const page = <Item extends z.ZodMiniType>(item: Item) => z.array(item).check(described('At most ten.'));

/** Response 200 of `GET /cdi/integrations`. */
export const integrationsResponse = z.object({
  results: page(integration),
  message,
});
export type IntegrationsResponse = z.infer<typeof integrationsResponse>;

/** Response 200 of `GET /cdi/integrations/{integration_id}/job_sync_status`. */
export const jobSyncStatusResponse = z.object({
  results: page(jobSyncStatus),
  message,
});
