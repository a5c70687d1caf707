import * as z from 'zod';
import { isRecord } from '../../protocol/index.ts';
import { isHoldoutId } from '../profiles/holdout-id.ts';
import { isAttribute, isAttributeValue } from '../users/check-objects.ts';
import type { SchemaIssue } from './issues.ts';
import { instant, named, optional, text } from './schema-helpers.ts';

export const isLanguageTag = (tag: string): boolean => {
  try {
    return /^[a-z]{2,3}(?:-|$)/.test(tag) && Intl.getCanonicalLocales(tag)[0] === tag;
  } catch {
    // `Intl` has no other way to validate a language tag.
    return false;
  }
};

/** Canonical language tag, such as `pt-BR`. Canonical, because the results have a row for each spelling. */
const language = z.string().refine(isLanguageTag, {
  params: { issue: 'invalid_language' satisfies SchemaIssue },
});

const conversion = z
  .strictObject({
    event: optional(z.string().min(1)).describe('Event name; exactly one of `event` and `product`'),
    product: optional(z.string().min(1)).describe('ID of a purchased product'),
    within_hours: z
      .number()
      .positive()
      .max(720)
      .describe('Attribution window in hours after the first impression, up to 720'),
  })
  .refine(({ event, product }) => (event === undefined) !== (product === undefined), {
    error: "expected exactly one of 'event' and 'product'",
  });

const times = z.int().positive();

const tags = z.array(z.string().min(1)).max(20);

const frequency = z.strictObject({
  impressions: optional(
    z.strictObject({
      max: times.describe('Impressions'),
      days: times.max(30).describe('Window in days, including today, up to 30'),
    }),
  ).describe('Maximum impressions within a window'),
  stop_after: optional(
    z.strictObject({
      impressions: optional(times).describe('Impressions'),
      clicks: optional(times).describe('Clicks'),
      conversions: optional(times.max(4)).describe('Conversions since the first impression'),
    }),
  ).describe('Stops the campaign for a user after this number of events'),
});

export const tagCap = z.strictObject({
  tag: z.string().min(1).describe('Tag of campaigns'),
  campaigns_per_day: times.describe('Maximum campaigns with the tag per user and day'),
  exempt: optional(z.array(z.string())).describe('Campaign IDs that are neither limited nor counted'),
});

const isTemplate = (value: unknown) => typeof value === 'string' && /\{\{|\{%/.test(value);

/** Creates the schema of a value of the type or a template that renders one. `params` adds the invalid value to an issue. */
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

const createTypeSchema = <T extends string>(type: T) =>
  z.literal(type).describe('`string`, `number`, `boolean`, `image`, `jsonobject` or `datetime`');
const ofType = <T extends z.ZodType>(value: T) =>
  value.describe(
    'A value of the type, or a Liquid template; `datetime` is Unix milliseconds or a date and time; any text within a `jsonobject` may be a template',
  );
const property = z.discriminatedUnion('type', [
  z.strictObject({ type: createTypeSchema('string'), value: ofType(z.string()) }),
  z.strictObject({ type: createTypeSchema('image'), value: ofType(z.string()) }),
  z.strictObject({
    type: createTypeSchema('number'),
    value: ofType(literalOrTemplate<number>('number', isNumber, 'a number')),
  }),
  z.strictObject({
    type: createTypeSchema('boolean'),
    value: ofType(literalOrTemplate<boolean>('boolean', isBoolean, 'a boolean')),
  }),
  z.strictObject({ type: createTypeSchema('jsonobject'), value: ofType(z.record(z.string(), z.unknown())) }),
  z.strictObject({ type: createTypeSchema('datetime'), value: ofType(datetimeValue) }),
]);

const translation = z
  .record(z.string().min(1), z.string())
  .describe('Texts by property; missing ones fall back to the next language');

const onClick = z.strictObject({
  event: optional(text.max(255)).describe('Custom event to log'),
  attributes: optional(
    z
      .record(
        text
          .max(255)
          // Names with the prefixes `_` and `$` are reserved for operators and flags.
          .refine((name) => isAttribute(name) && !/^[_$]/.test(name), {
            error: 'expected the name of an attribute',
          }),
        z.union([z.string().max(255), z.number(), z.boolean()]),
      )
      // Attributes that `/users/track` rejects would have no effect.
      .superRefine((attributes, { addIssue }) => {
        for (const [name, value] of Object.entries(attributes))
          if (!isAttributeValue(name, value))
            addIssue({
              code: 'custom',
              path: [name],
              input: value,
              params: { issue: 'invalid_attribute_value' satisfies SchemaIssue },
            });
      }),
  ).describe('Attributes to set, such as `{ "wants_news": true }`'),
});

const variant = z.strictObject({
  variant_id: text.describe('ID of the variant in results; do not change it'),
  name: named,
  weight: optional(z.number().nonnegative()).describe('Weight relative to other variants; default 1'),
  cache_ttl_seconds: optional(z.int().positive()).describe(
    'Seconds that pages may cache the banner; default until the campaign ends',
  ),
  on_click: optional(onClick).describe('Event and attributes stored with a click, once'),
  properties: z.record(z.string().min(1), property).describe('Properties of the banner by name'),
  translations: optional(z.record(language, translation)).describe(
    '`string` and `image` properties by language, such as `{ "de": { "headline": "Hallo" } }`',
  ),
});

/**
 * Passed through unparsed, because a zod record drops a `__proto__` member, and an audience with nothing else would match
 * everyone.
 */
const filter = z
  .custom<Record<string, unknown>>(isRecord, { error: 'expected an object', params: { tellsGot: true } })
  .meta({ type: 'object' });

/** Schema of a campaign in the workspace file. */
export const campaignFile = z
  .strictObject({
    campaign_id: text
      .refine((id) => !isHoldoutId(id), { error: 'expected an ID that does not begin with "@"' })
      .describe('ID of the campaign in results and dismissals; do not change it'),
    name: named,
    status: z
      .enum(['active', 'draft', 'stopped'])
      .describe('`active`, `draft` or `stopped`; only active campaigns are shown'),
    placements: z.array(text).max(1_000).describe('Placement IDs, up to 1,000'),
    priority: optional(z.enum(['high', 'medium', 'low'])).describe(
      '`high`, `medium` (default) or `low`. Ties: later `starts_at` (or publication in the Studio) first, then order in the file',
    ),
    starts_at: optional(instant).describe('Start, such as `2026-03-01T00:00:00Z`; default none'),
    ends_at: optional(instant).describe('End; default none'),
    audience: optional(filter).describe(
      'Filter in MongoDB query syntax; `{ "$segment": "<segment_id>" }` references a segment. Default: all users',
    ),
    control_percentage: optional(z.number().min(0).max(100)).describe(
      'Percentage of the audience in the control group, from 0 to 100; default 0',
    ),
    reeligible_after_hours: optional(z.number().nonnegative()).describe(
      'Hours until a user who dismissed it is eligible again; default never',
    ),
    test_users: optional(z.array(text)).describe(
      'External IDs of users who see it regardless of status, schedule and audience',
    ),
    conversions: optional(z.array(conversion).max(4)).describe('Goals: up to four events or purchases'),
    tags: optional(tags).describe('Tags, for `tag_caps`'),
    frequency: optional(frequency).describe('Frequency caps; default none'),
    target_sample_size: optional(z.int().positive()).describe(
      'Users per variant before results declare a winner; default: at the end of the campaign',
    ),
    language: optional(language).describe(
      'Language of the properties, such as `en`; required with `translations`',
    ),
    variants: z.array(variant).min(1).describe('Variants; each user always gets the same one'),
  })
  .superRefine(({ starts_at, ends_at, variants }, context) => {
    if (starts_at !== undefined && ends_at !== undefined && ends_at <= starts_at) {
      context.addIssue({
        code: 'custom',
        path: ['ends_at'],
        params: { issue: 'ends_before_start' satisfies SchemaIssue },
      });
    }
    if (variants.length > 0 && variants.every(({ weight }) => weight === 0)) {
      context.addIssue({
        code: 'custom',
        path: ['variants'],
        params: { issue: 'no_weight' satisfies SchemaIssue },
      });
    }
  });

/** Schema of a named audience. */
export const segmentFile = z.strictObject({
  segment_id: text.describe('ID referenced by `$segment`'),
  name: named,
  audience: filter.describe('Filter in MongoDB query syntax, without other segments'),
});

/** Schema of the global control group. */
export const holdoutFile = z.strictObject({
  percentage: z.number().positive().max(50).describe('Percentage of users, up to 50'),
  starts_at: instant.describe('Start, such as `2026-03-01T00:00:00Z`; another start selects other users'),
  exempt_tags: optional(tags).describe('Tags of campaigns that are shown anyway'),
  conversions: optional(z.array(conversion).max(4)).describe('Goals: up to four events or purchases'),
});

/** Campaign of the file before parsing. */
export type CampaignInput = z.input<typeof campaignFile>;
/** Parsed campaign of the file. */
export type CampaignFile = z.output<typeof campaignFile>;
