import * as z from 'zod/mini';

export const INTEGRATIONS_PATH = '/cdi/integrations';

/**
 * One data-ingestion integration. Every member is a string on the wire; a never-run integration has `""` from us
 * and may have `null` from others. `contact_emails` is one string even for several addresses.
 */
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
/** One data-ingestion integration. */
export type Integration = z.infer<typeof integration>;

/** 200 of `GET /cdi/integrations`. */
export const integrationsAnswer = z.object({ results: z.array(integration), message: z.string() });
export type IntegrationsAnswer = z.infer<typeof integrationsAnswer>;
