import * as z from 'zod/mini';

export const INTEGRATIONS_PATH = '/cdi/integrations';

/**
 * One data-ingestion integration. One that never ran has `''` in the members that tell of a run. `contact_emails` is one
 * string even for several addresses.
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

/** A member that never had a value is `""` from us and may be `null` from others. */
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
}) satisfies z.ZodMiniType<Integration>;

/** 200 of `GET /cdi/integrations`. */
export const integrationsAnswer = z.object({ results: z.array(integration), message: z.string() });
export type IntegrationsAnswer = z.infer<typeof integrationsAnswer>;
