import * as z from 'zod';
import { IDENTIFIERS, isStorableText } from '../../protocol/index.ts';
import { type Schedule, scheduleProblem } from '../integrations/schedule.ts';
import { optional } from './schema-helpers.ts';
import { timeZone } from './studio-settings.ts';

/** Types of rows. A row of type `deletes` erases a user. */
const ROW_TYPES = ['attributes', 'events', 'purchases', 'deletes'] as const;

const name = z.string().min(1);

const kind = <T extends string>(type: T) =>
  z.literal(type).describe('`postgres`, `sqlite`, `csv`, `ndjson` or `parquet`');

/** Members that describe the rows of a source, common to all sources. */
const ofRows = {
  rows: z.enum(ROW_TYPES).describe('Type of the rows: `attributes`, `events`, `purchases` or `deletes`'),
  key: optional(name).describe(
    'Column with a unique, stable ID of the row; default the user identifier; required for events and purchases',
  ),
  updated_at: optional(name).describe('Column with the time of the last change; default `UPDATED_AT`'),
  columns: optional(z.record(name, name)).describe(
    'Field of `/users/track` by column, such as `"PLAN": "tier"` or `"SCORE": "properties.score:number"`; default: JSON in the column `PAYLOAD`',
  ),
  lookback_seconds: optional(
    z
      .int()
      .min(0)
      .max(7 * 24 * 3_600),
  ).describe('Seconds before the watermark that each run reads again, for late commits; default 0'),
};

const table = name.describe('Table or view, such as `crm.customers`');

const POSTGRES_URL = /^postgres(?:ql)?:\/\//;
/** Returns whether a URL has a password. Uses a pattern, because `new URL` rejects the empty host of a Unix socket. */
const hasPassword = (url: string) => /^\w+:\/\/[^:@/?#]*:[^@/?#]+@|[?&]password=/.test(url);

const postgres = z.strictObject({
  kind: kind('postgres'),
  url: z
    .string()
    .regex(POSTGRES_URL, { error: 'expected a URL such as postgres://reader@db.example/shop', abort: true })
    .refine((url) => !hasPassword(url), {
      error: 'expected a URL without a password; name a variable in `password_env`',
    })
    .describe(
      'URL of a PostgreSQL or Redshift database, without password: `postgres://reader@db.example:5432/shop`',
    ),
  password_env: optional(name).describe(
    'Environment variable with the password (with suffix `_FILE`: its file); default none',
  ),
  table,
  ...ofRows,
});

const files = z.string().min(1).describe('File, relative to this file; `*` in its name matches any text');
const sqlite = z.strictObject({
  kind: kind('sqlite'),
  files,
  table,
  ...ofRows,
});
const csv = z.strictObject({
  kind: kind('csv'),
  files,
  delimiter: optional(z.string().length(1)).describe('Column delimiter; default `,`'),
  ...ofRows,
});
const ndjson = z.strictObject({ kind: kind('ndjson'), files, ...ofRows });
const parquet = z.strictObject({ kind: kind('parquet'), files, ...ofRows });

const source = z
  .discriminatedUnion('kind', [postgres, sqlite, csv, ndjson, parquet])
  .superRefine(({ rows, key, columns }, context) => {
    const problem = (member: string, message: string) =>
      context.addIssue({ code: 'custom', path: [member], message });
    if (key === undefined && (rows === 'events' || rows === 'purchases')) {
      problem(
        'key',
        'expected the column that names a row: without it an event that is read again is another one',
      );
    }
    if (rows === 'deletes' && Object.values(columns ?? {}).some((member) => !NAMES_OF_USERS.has(member))) {
      problem('columns', 'expected identifiers alone, where rows are deletes');
    }
  });

/** Columns that identify a user. */
const NAMES_OF_USERS: ReadonlySet<string> = new Set(
  IDENTIFIERS.flatMap((name) =>
    name === 'user_alias' ? ['user_alias.alias_name', 'user_alias.alias_label'] : [name],
  ),
);

/** Parsed source of the workspace file. */
export type SourceFile = z.output<typeof source>;

const schedule = z.string().superRefine((text, context) => {
  const message = text === 'on_demand' || text === 'paused' ? null : scheduleProblem(text);
  if (message !== null) context.addIssue({ code: 'custom', message });
});

const recordText = z.string().nullish();

/** Schema of an entry of `integrations`. */
export const integrationFile = z
  .strictObject({
    integration_id: z
      .string()
      .min(1)
      .refine(isStorableText, { error: 'expected text without U+0000 and half characters' })
      .describe('ID of the integration'),
    app_group_id: recordText.describe('Workspace ID; default `workspace_id`'),
    integration_name: recordText.describe('Display name'),
    integration_type: recordText.describe('Type of data; default the rows of its source'),
    integration_status: recordText.describe('Status; set by runs if it has a source'),
    contact_emails: recordText.describe('Contact email addresses, separated by commas'),
    last_updated_at: recordText.describe('Time of the last change; set by runs if it has a source'),
    warehouse_type: recordText.describe('Warehouse; default the kind of its source'),
    last_job_start_time: recordText.describe('Start of the last run; set by runs if it has a source'),
    last_job_status: recordText.describe('Status of the last run; set by runs if it has a source'),
    next_scheduled_run: recordText.describe('Next run; set by runs if it has a source'),
    source: optional(source).describe(
      'Source of rows that the service imports; without it the integration is only listed',
    ),
    schedule: optional(schedule).describe(
      '`on_demand` (default), `paused`, or a cron expression from every 15 minutes to monthly, such as `0 4 * * *`',
    ),
    time_zone: optional(timeZone).describe('Time zone of the schedule; default `UTC`'),
  })
  .superRefine(({ source, schedule, time_zone }, context) => {
    if (source !== undefined || (schedule === undefined && time_zone === undefined)) return;
    context.addIssue({ code: 'custom', path: ['schedule'], message: 'expected a source beside it' });
  });
export type IntegrationFile = z.output<typeof integrationFile>;

export const toSchedule = ({ schedule = 'on_demand', time_zone = 'UTC' }: IntegrationFile): Schedule =>
  schedule === 'on_demand' || schedule === 'paused'
    ? { kind: schedule }
    : { kind: 'cron', expression: schedule, timeZone: time_zone };
