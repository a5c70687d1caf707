import * as z from 'zod';
import { CLIENT_PERMISSIONS, isStorableText, SERVER_PERMISSIONS } from '../../protocol/index.ts';
import { conversionFile, operatorFile, PLACEMENT_TEMPLATES, studioFile } from './studio-schema.ts';

/** `null` means the same as absent, everywhere in the file. */
const optional = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? undefined);
/** A date and time with its offset. Gives Unix milliseconds. */
const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

/** What goes into a database must be text that every store can hold. */
const text = z
  .string()
  .min(1)
  .refine(isStorableText, { error: 'expected text without U+0000 and half characters' });
const named = optional(z.string());

const app = z.strictObject({
  app_id: text,
  name: named,
  platform: named,
  user_tokens: optional(z.enum(['off', 'optional', 'required'])),
  user_token_keys: optional(z.array(z.union([z.string(), z.record(z.string(), z.unknown())]))),
  user_token_keys_file: optional(text),
  visitors: optional(z.boolean()),
});

/** What an `Authorization` header can carry: no space, no leading quote, 1,024 characters with `Bearer`. */
const presentable = z.string().regex(/^(?!["'])[\x21-\x7e\xa1-\xff]{1,1017}$/, {
  error: 'expected 1 to 1017 characters that a header can carry, without spaces or a quote in front',
});

const apiKey = z
  .strictObject({
    name: named,
    type: z.enum(['client', 'server']),
    key: optional(presentable),
    key_sha256: optional(
      z.string().regex(/^[0-9a-f]{64}$/i, { error: 'expected 64 hexadecimal digits', abort: true }),
    ),
    permissions: z.array(z.enum([...CLIENT_PERMISSIONS, ...SERVER_PERMISSIONS])),
  })
  .superRefine((key, context) => {
    const problem = (path: PropertyKey[], message: string) =>
      context.addIssue({ code: 'custom', path, message });
    if ((key.key === undefined) === (key.key_sha256 === undefined)) {
      problem([], "expected exactly one of 'key' and 'key_sha256'");
    }
    const allowed: readonly string[] = key.type === 'client' ? CLIENT_PERMISSIONS : SERVER_PERMISSIONS;
    for (const [index, permission] of key.permissions.entries()) {
      if (!allowed.includes(permission)) {
        problem(
          ['permissions', index],
          `expected a permission of a ${key.type} key (${allowed.join(', ')}), got "${permission}"`,
        );
      }
    }
  });

const placement = z.strictObject({
  placement_id: text,
  name: named,
  template: optional(z.enum(PLACEMENT_TEMPLATES)),
});

const isTemplate = (value: unknown) => typeof value === 'string' && /\{\{|\{%/.test(value);

/** A value of the type, or text that a template makes of it. `params` has the problem tell what was there. */
const literalOrTemplate = <T>(accepts: (value: unknown) => boolean, what: string) =>
  z.custom<T | string>((value) => accepts(value) || isTemplate(value), {
    error: `expected ${what} or a Liquid template`,
    params: { tellsGot: true },
  });
const isNumber = (value: unknown) => typeof value === 'number' && Number.isFinite(value);
const isBoolean = (value: unknown) => typeof value === 'boolean';
const isDatetime = (value: unknown) => z.union([z.int(), instant]).safeParse(value).success;
const datetimeValue = literalOrTemplate<number>(
  isDatetime,
  'Unix milliseconds or an ISO 8601 date',
).transform((value) => (typeof value === 'string' && !isTemplate(value) ? Date.parse(value) : value));

const property = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('string'), value: z.string() }),
  z.strictObject({ type: z.literal('image'), value: z.string() }),
  z.strictObject({ type: z.literal('number'), value: literalOrTemplate<number>(isNumber, 'a number') }),
  z.strictObject({ type: z.literal('boolean'), value: literalOrTemplate<boolean>(isBoolean, 'a boolean') }),
  z.strictObject({ type: z.literal('jsonobject'), value: z.record(z.string(), z.unknown()) }),
  z.strictObject({ type: z.literal('datetime'), value: datetimeValue }),
]);

const variant = z.strictObject({
  variant_id: text,
  name: named,
  weight: optional(z.number().nonnegative()),
  expires_after_seconds: optional(z.int().positive()),
  properties: z.record(z.string().min(1), property),
});

/** A campaign as the file writes it. */
export const campaignFile = z
  .strictObject({
    campaign_id: text,
    name: named,
    status: z.enum(['active', 'draft', 'stopped']),
    placements: z.array(text),
    priority: optional(z.enum(['high', 'medium', 'low'])),
    starts_at: optional(instant),
    ends_at: optional(instant),
    audience: optional(z.record(z.string(), z.unknown())),
    control_percentage: optional(z.number().min(0).max(100)),
    reeligible_after_hours: optional(z.number().nonnegative()),
    test_users: optional(z.array(text)),
    conversions: optional(z.array(conversionFile).max(4)),
    planned_users: optional(z.int().positive()),
    variants: z.array(variant).min(1),
  })
  .superRefine(({ starts_at, ends_at, variants }, context) => {
    if (starts_at !== undefined && ends_at !== undefined && ends_at <= starts_at) {
      context.addIssue({
        code: 'custom',
        path: ['ends_at'],
        message: "expected an instant after 'starts_at'",
      });
    }
    if (variants.length > 0 && variants.every(({ weight }) => weight === 0)) {
      context.addIssue({ code: 'custom', path: ['variants'], message: 'expected a weight above 0' });
    }
  });

const integrationText = z.string().nullish();
const integrationRecord = z.strictObject({
  integration_id: text,
  app_group_id: integrationText,
  integration_name: integrationText,
  integration_type: integrationText,
  integration_status: integrationText,
  contact_emails: integrationText,
  last_updated_at: integrationText,
  warehouse_type: integrationText,
  last_job_start_time: integrationText,
  last_job_status: integrationText,
  next_scheduled_run: integrationText,
});

const subscriptionGroup = z.strictObject({
  subscription_group_id: text,
  name: named,
  channel: named,
});

const rule = { requests: z.int().positive(), window_seconds: z.int().positive() };
/** Requests are counted by the length of a window: two of one length would share a count. */
const windows = z
  .array(z.strictObject(rule))
  .min(1)
  .superRefine((all, context) => {
    const lengths = all.map(({ window_seconds }) => window_seconds);
    for (const [index, length] of lengths.entries()) {
      if (lengths.indexOf(length) === index) continue;
      context.addIssue({
        code: 'custom',
        path: [index, 'window_seconds'],
        message: `expected it once, got ${length} again`,
      });
    }
  });
const limitShape = {
  requests: optional(rule.requests),
  window_seconds: optional(rule.window_seconds),
  windows: optional(windows),
};

/** One window, or several under `windows`. */
const oneOrSeveral = (
  limit: { requests?: unknown; window_seconds?: unknown; windows?: unknown; objects?: unknown },
  context: { addIssue(issue: { code: 'custom'; path: PropertyKey[]; message: string }): void },
) => {
  const single = limit.requests !== undefined || limit.window_seconds !== undefined;
  const complete = limit.requests !== undefined && limit.window_seconds !== undefined;
  const bare = !single && limit.windows === undefined && limit.objects !== undefined;
  if (bare || (single ? complete && limit.windows === undefined : limit.windows !== undefined)) return;
  context.addIssue({
    code: 'custom',
    path: [],
    message: "expected either 'requests' and 'window_seconds', or 'windows'",
  });
};
const limit = z.strictObject(limitShape).superRefine(oneOrSeveral);
const usersTrackLimit = z
  .strictObject({ ...limitShape, objects: optional(z.enum(['combined', 'per_array'])) })
  .superRefine(oneOrSeveral);

/** The workspace file as it is written; every unknown member is an error. */
export const workspaceFile = z.strictObject({
  $schema: optional(z.string()),
  workspace_id: text,
  name: named,
  company_id: optional(text),
  apps: z.array(app),
  api_keys: z.array(apiKey),
  placements: optional(z.array(placement)),
  campaigns: optional(z.array(campaignFile)),
  campaigns_from: optional(z.enum(['file', 'studio'])),
  operators: optional(z.array(operatorFile)),
  studio: optional(studioFile),
  integrations: optional(z.array(integrationRecord)),
  subscription_groups: optional(z.array(subscriptionGroup)),
  blocked_external_ids: optional(z.array(z.string())),
  banners: optional(z.boolean()),
  limits: optional(
    z.strictObject({
      users_track: optional(usersTrackLimit),
      users_track_bulk: optional(limit),
      banners_sync: optional(limit),
      banners_track: optional(limit),
      cdi_integrations: optional(limit),
      users_other: optional(limit),
      users_export_ids: optional(limit),
    }),
  ),
});
export type WorkspaceFile = z.output<typeof workspaceFile>;
export type CampaignFile = z.output<typeof campaignFile>;
export type AppFile = z.output<typeof app>;
