import * as z from 'zod';
import { CLIENT_PERMISSIONS, isRecord, isStorableText, SERVER_PERMISSIONS } from '../../protocol/index.ts';
import { conversion } from './conversion-schema.ts';
import { frequency, tagCap, tags } from './frequency-schema.ts';
import { integrationFile } from './integration-schema.ts';
import { limits } from './limits.ts';
import { optional } from './optional.ts';
import { operatorFile, PLACEMENT_TEMPLATES, studioFile } from './studio-settings.ts';

/** A date and time with its offset. Gives Unix milliseconds. */
const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

const isLanguageTag = (tag: string): boolean => {
  try {
    return /^[a-z]{2,3}(?:-|$)/.test(tag) && Intl.getCanonicalLocales(tag)[0] === tag;
  } catch {
    // The only way to ask whether a tag is one.
    return false;
  }
};

/** A language as it is written once for all, such as `pt-BR`: two spellings of one would be two lines in the results. */
const language = z.string().refine(isLanguageTag, {
  error: "expected a language as BCP 47 writes it, such as 'de' or 'pt-BR'",
  params: { tellsGot: true },
});

/** What goes into a database must be text that every store can hold. */
const text = z
  .string()
  .min(1)
  .refine(isStorableText, { error: 'expected text without U+0000 and half characters' });
const named = optional(z.string()).describe('For people');

const app = z.strictObject({
  app_id: text.describe('What a client sends as `appId`'),
  name: named,
  platform: optional(z.string()).describe('Platform of the app, such as `web`; a text may print it'),
  user_tokens: optional(z.enum(['off', 'optional', 'required'])).describe(
    'Proof of the user: `off` (default), `optional` (a token that is sent must hold) or `required`',
  ),
  user_token_keys: optional(z.array(z.union([z.string(), z.record(z.string(), z.unknown())]))).describe(
    'Public keys that verify user tokens: a PEM as text, a JWK or a JWKS as an object',
  ),
  user_token_keys_file: optional(text).describe(
    'File with such keys, relative to this one: a JWKS, a JWK, or one PEM or several; read again when it changes',
  ),
  visitors: optional(z.boolean()).describe(
    '`true`: visitors without an account need no token where `user_tokens` is `required`; default `false`',
  ),
});

/** What an `Authorization` header can carry: no space, no leading quote, 1,024 characters with `Bearer`. */
const presentable = z.string().regex(/^(?!["'])[\x21-\x7e\xa1-\xff]{1,1017}$/, {
  error: 'expected 1 to 1017 characters that a header can carry, without spaces or a quote in front',
});

const apiKey = z
  .strictObject({
    name: named,
    type: z
      .enum(['client', 'server'])
      .describe('`client` is public, for pages; `server` is secret, for backends'),
    key: optional(presentable).describe('The key itself; write either this or `key_sha256`'),
    key_sha256: optional(
      z.string().regex(/^[0-9a-f]{64}$/i, { error: 'expected 64 hexadecimal digits', abort: true }),
    ).describe('The SHA-256 of the key, in 64 hexadecimal digits'),
    permissions: z
      .array(z.enum([...CLIENT_PERMISSIONS, ...SERVER_PERMISSIONS]))
      .describe('What the key may do; a client key may have only the two that begin with `banners.`'),
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
  placement_id: text.describe('What a page mounts'),
  name: named,
  template: optional(z.enum(PLACEMENT_TEMPLATES)).describe(
    'The template that draws its banners, for previews in the Studio: `strip`, `card`, `hero`, `countdown` or `choice`',
  ),
});

const isTemplate = (value: unknown) => typeof value === 'string' && /\{\{|\{%/.test(value);

/** A value of the type, or a template that makes one. With `params` a problem names the value that was there. */
const literalOrTemplate = <T>(type: string, accepts: (value: unknown) => boolean, what: string) =>
  z
    .custom<T | string>((value) => accepts(value) || isTemplate(value), {
      error: `expected ${what} or a Liquid template`,
      params: { tellsGot: true },
    })
    .meta({ type: [type, 'string'] });
const isNumber = (value: unknown) => typeof value === 'number' && Number.isFinite(value);
const isBoolean = (value: unknown) => typeof value === 'boolean';
const isDatetime = (value: unknown) => z.union([z.int(), instant]).safeParse(value).success;
const datetimeValue = literalOrTemplate<number>(
  'integer',
  isDatetime,
  'Unix milliseconds or an ISO 8601 date',
).transform((value) => (typeof value === 'string' && !isTemplate(value) ? Date.parse(value) : value));

const isOf = <T extends string>(type: T) =>
  z.literal(type).describe('`string`, `number`, `boolean`, `image`, `jsonobject` or `datetime`');
const ofType = <T extends z.ZodType>(value: T) =>
  value.describe(
    'A value of the type, or a Liquid template; `datetime` is Unix milliseconds or a date and time; any text within a `jsonobject` may be a template',
  );
const property = z.discriminatedUnion('type', [
  z.strictObject({ type: isOf('string'), value: ofType(z.string()) }),
  z.strictObject({ type: isOf('image'), value: ofType(z.string()) }),
  z.strictObject({
    type: isOf('number'),
    value: ofType(literalOrTemplate<number>('number', isNumber, 'a number')),
  }),
  z.strictObject({
    type: isOf('boolean'),
    value: ofType(literalOrTemplate<boolean>('boolean', isBoolean, 'a boolean')),
  }),
  z.strictObject({ type: isOf('jsonobject'), value: ofType(z.record(z.string(), z.unknown())) }),
  z.strictObject({ type: isOf('datetime'), value: ofType(datetimeValue) }),
]);

const translation = z
  .record(z.string().min(1), z.string())
  .describe('Texts by property; what is missing comes from the next language');

const variant = z.strictObject({
  variant_id: text.describe('ID by which results are kept'),
  name: named,
  weight: optional(z.number().nonnegative()).describe(
    'Its share beside the weights of the others; default 1',
  ),
  expires_after_seconds: optional(z.int().positive()).describe(
    'How long a page may keep the banner, in seconds; default until the campaign ends',
  ),
  properties: z
    .record(z.string().min(1), property)
    .describe('What the banner holds, by name; the templates read those listed in `placard/templates`'),
  translations: optional(z.record(language, translation)).describe(
    'Its `string` and `image` properties in other languages, by language, such as `{ "de": { "headline": "Hallo" } }`',
  ),
});

/** Passed on as it is: a record of zod would drop a member `__proto__`, and an audience of that alone would be everyone. */
const filter = z
  .custom<Record<string, unknown>>(isRecord, { error: 'expected an object', params: { tellsGot: true } })
  .meta({ type: 'object' });

/** A campaign as the file writes it. */
export const campaignFile = z
  .strictObject({
    campaign_id: text
      .refine((id) => !id.startsWith('@'), { error: 'expected an ID that does not begin with "@"' })
      .describe('ID by which dismissals and results are kept'),
    name: named,
    status: z.enum(['active', 'draft', 'stopped']).describe('Only an `active` campaign is shown'),
    placements: z.array(text).describe('IDs of the placements that it may fill'),
    priority: optional(z.enum(['high', 'medium', 'low'])).describe(
      'Which campaign wins a placement; default `medium`. Of one priority the later `starts_at` wins (without one: when the Studio published it), then the earlier in the file',
    ),
    starts_at: optional(instant).describe('When it begins, such as `2026-03-01T00:00:00Z`; default always'),
    ends_at: optional(instant).describe('When it ends; default never'),
    audience: optional(filter).describe(
      'Who sees it, as a filter in MongoDB query form; `{ "$segment": "<segment_id>" }` asks for a segment; default everyone',
    ),
    control_percentage: optional(z.number().min(0).max(100)).describe(
      'Percentage of the audience that sees nothing and is counted, from 0 to 100; default 0',
    ),
    reeligible_after_hours: optional(z.number().nonnegative()).describe(
      'Hours after a dismissal until the user may see it again; default never',
    ),
    test_users: optional(z.array(text)).describe(
      'External IDs of users who see it whatever its status, time and audience are',
    ),
    conversions: optional(z.array(conversion).max(4)).describe(
      'What counts as a success of the campaign: up to four events or purchases',
    ),
    tags: optional(tags).describe('Names by which `tag_caps` limit campaigns together'),
    frequency: optional(frequency).describe('How often one user gets it; default without a limit'),
    planned_users: optional(z.int().positive()).describe(
      'How many users should see a variant before the results name a winner; default: results name one at the end',
    ),
    language: optional(language).describe(
      'Language of the properties, such as `en`; needed where a variant has `translations`',
    ),
    variants: z.array(variant).min(1).describe('What is shown; each user always gets the same variant'),
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

/** An audience with a name. */
export const segmentFile = z.strictObject({
  segment_id: text.describe('What an audience names as `$segment`'),
  name: named,
  audience: filter.describe('Who is in, as a filter in MongoDB query form, without other segments'),
});

const subscriptionGroup = z.strictObject({
  subscription_group_id: text.describe('What `/users/track` names'),
  name: named,
  channel: optional(z.string()).describe('`email` (default) or `sms`'),
});

const retention = z.strictObject({
  events_days: optional(z.int().positive()).describe('Days that events and purchases are kept'),
  banner_events_days: optional(z.int().positive()).describe(
    'Days that impressions, clicks and dismissals are kept',
  ),
});

/** The workspace file as it is written; every unknown member is an error. */
export const workspaceFile = z.strictObject({
  $schema: optional(z.string()).describe(
    'JSON Schema of this file, for your editor; the service does not read it',
  ),
  workspace_id: text.describe(
    'ID by which the database finds what belongs to the workspace: do not change it',
  ),
  name: named,
  company_id: optional(text).describe(
    'Workspaces of one company share the shortest window of `limits.users_track`',
  ),
  apps: z.array(app).describe('Apps that may ask for banners'),
  api_keys: z.array(apiKey).describe('Keys to the API'),
  placements: optional(z.array(placement)).describe(
    'Slots of your pages; with this list, campaigns may name no others',
  ),
  campaigns: optional(z.array(campaignFile)).describe('What users see'),
  segments: optional(z.array(segmentFile)).describe(
    'Audiences with a name, which campaigns share; with `"campaigns_from": "studio"` those of the Studio take their place',
  ),
  campaigns_from: optional(z.enum(['file', 'studio'])).describe(
    '`file` (default): the campaigns are those of this file; `studio`: releases of the Studio take their place',
  ),
  tag_caps: optional(z.array(tagCap)).describe(
    'How many campaigns of a tag one user gets a day; days are those of `studio.time_zone`',
  ),
  retention: optional(retention).describe('How long events are kept; default for ever'),
  operators: optional(z.array(operatorFile)).describe('Who may use the Studio'),
  studio: optional(studioFile).describe('Settings of the Studio'),
  integrations: optional(z.array(integrationFile)).describe(
    'What `/cdi/integrations` lists; without it that endpoint answers 404',
  ),
  subscription_groups: optional(z.array(subscriptionGroup)).describe('Groups that users subscribe to'),
  blocked_external_ids: optional(z.array(z.string())).describe(
    'External IDs whose objects `/users/track` refuses',
  ),
  banners: optional(z.boolean()).describe('`false`: the banner endpoints answer 404; default `true`'),
  limits: optional(limits).describe('How many requests each endpoint takes'),
});
export type WorkspaceFile = z.output<typeof workspaceFile>;
export type AppFile = z.output<typeof app>;
export type CampaignFile = z.output<typeof campaignFile>;
