import * as z from 'zod';
import { isRecord } from '../../protocol/index.ts';
import { isAttribute, isAttributeValue } from '../users/check-objects.ts';
import type { SchemaIssue } from './issues.ts';
import { instant, named, optional, text } from './schema-helpers.ts';

const isLanguageTag = (tag: string): boolean => {
  try {
    return /^[a-z]{2,3}(?:-|$)/.test(tag) && Intl.getCanonicalLocales(tag)[0] === tag;
  } catch {
    // `Intl` has no other way to validate a language tag.
    return false;
  }
};

/** Canonical language tag, such as `pt-BR`. Two spellings would be two rows in the results. */
const language = z.string().refine(isLanguageTag, {
  params: { issue: 'invalid_language' satisfies SchemaIssue },
});

/** Goal of a campaign. */
const conversion = z
  .strictObject({
    event: optional(z.string().min(1)).describe('Name of an event; write either this or `product`'),
    product: optional(z.string().min(1)).describe('ID of a product that is bought'),
    within_hours: z
      .number()
      .positive()
      .max(720)
      .describe('Hours after the first impression in which it counts, up to 720'),
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
      days: times.max(30).describe('Days, today included, up to 30'),
    }),
  ).describe('At most so many impressions within so many days'),
  stop_after: optional(
    z.strictObject({
      impressions: optional(times).describe('Impressions'),
      clicks: optional(times).describe('Clicks'),
      conversions: optional(times.max(4)).describe(
        'Conversions of the campaign that the user has reached since the first impression',
      ),
    }),
  ).describe('Over for a user after so many'),
});

export const tagCap = z.strictObject({
  tag: z.string().min(1).describe('A name in the `tags` of campaigns'),
  campaigns_per_day: times.describe('Campaigns of the tag that one user gets a day'),
  exempt: optional(z.array(z.string())).describe('IDs of campaigns that are neither limited nor counted'),
});

const isTemplate = (value: unknown) => typeof value === 'string' && /\{\{|\{%/.test(value);

/** Value of the type, or a template that produces one. With `params`, an issue includes the invalid value. */
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

const onClick = z.strictObject({
  event: optional(text.max(255)).describe('Name of a custom event that it logs'),
  attributes: optional(
    z
      .record(
        text
          .max(255)
          // Names with these prefixes are reserved for operators and flags.
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
  ).describe('Attributes that it sets, such as `{ "wants_news": true }`'),
});

const variant = z.strictObject({
  variant_id: text.describe('ID by which results are kept'),
  name: named,
  weight: optional(z.number().nonnegative()).describe(
    'Its share beside the weights of the others; default 1',
  ),
  cache_ttl_seconds: optional(z.int().positive()).describe(
    'How long a page may keep the banner, in seconds; default until the campaign ends',
  ),
  on_click: optional(onClick).describe('What a click does to the user, once, with the click'),
  properties: z
    .record(z.string().min(1), property)
    .describe('What the banner holds, by name; the templates read those listed in `placard/templates`'),
  translations: optional(z.record(language, translation)).describe(
    'Its `string` and `image` properties in other languages, by language, such as `{ "de": { "headline": "Hallo" } }`',
  ),
});

/**
 * Passed through unparsed, because a zod record drops a `__proto__` member, and an audience with nothing else would match
 * everyone.
 */
const filter = z
  .custom<Record<string, unknown>>(isRecord, { error: 'expected an object', params: { tellsGot: true } })
  .meta({ type: 'object' });

/** Campaign in the workspace file. */
export const campaignFile = z
  .strictObject({
    campaign_id: text
      .refine((id) => !id.startsWith('@'), { error: 'expected an ID that does not begin with "@"' })
      .describe('ID by which dismissals and results are kept'),
    name: named,
    status: z.enum(['active', 'draft', 'stopped']).describe('Only an `active` campaign is shown'),
    placements: z.array(text).max(1_000).describe('IDs of the placements that it may fill, up to 1,000'),
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
    target_sample_size: optional(z.int().positive()).describe(
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

/** Named audience. */
export const segmentFile = z.strictObject({
  segment_id: text.describe('What an audience names as `$segment`'),
  name: named,
  audience: filter.describe('Who is in, as a filter in MongoDB query form, without other segments'),
});

/** Control group of all campaigns. */
export const holdoutFile = z.strictObject({
  percentage: z.number().positive().max(50).describe('Percentage of all users who get no campaign, up to 50'),
  starts_at: instant.describe(
    'From when on, such as `2026-03-01T00:00:00Z`; another start chooses other users',
  ),
  exempt_tags: optional(tags).describe('Campaigns with such a tag are shown to them all the same'),
  conversions: optional(z.array(conversion).max(4)).describe(
    'What all campaigns together should bring about: up to four events or purchases',
  ),
});

export type CampaignFile = z.output<typeof campaignFile>;
