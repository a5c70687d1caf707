// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import type { Route } from '../../src/service/api/route.ts';
import { APP_ID } from './a-workspace.ts';
import fc from './property.ts';

/** Odd strings: long, empty, with lone surrogates and control characters, and property names of `Object.prototype`. */
const oddText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom(
    '',
    '__proto__',
    'constructor',
    'hasOwnProperty',
    'toString',
    '\u0000',
    '\ud800',
    'a\udc00b',
    '\u202e',
    '💥'.repeat(300),
    "'; DROP TABLE users; --",
    '{{7*7}}',
    '$where',
    '${first_name}',
    'x'.repeat(1_200),
  ),
);

const oddNumber = fc.oneof(
  fc.double(),
  fc.constantFrom(0, -0, -1, 1e308, 5e-324, 2 ** 53, 2 ** 63, -(2 ** 63), 1.5, Number.MAX_VALUE),
);

const oddScalar = fc.oneof(oddText, oddNumber, fc.boolean(), fc.constant(null));
const oddName = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('tier', 'name', 'time', 'id', 'add', 'inc', '$add', '$update', '$time'),
  },
  { weight: 1, arbitrary: oddText },
);
const oddObject = fc.dictionary(oddName, fc.oneof(oddScalar, fc.array(oddScalar, { maxLength: 4 })), {
  maxKeys: 5,
});
const anything = fc.oneof(
  { weight: 3, arbitrary: oddScalar },
  fc.array(oddScalar, { maxLength: 5 }),
  oddObject,
);

const time = fc.oneof(
  fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((date) => date.toISOString()),
  fc.constantFrom(
    '2026-03-01',
    '2026-13-01T00:00:00Z',
    '2026-03-01 09:00:00 +0100',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
  ),
  anything,
);

/** A mostly valid value. */
const nearly = (right: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 30, arbitrary: right }, { weight: 1, arbitrary: anything });
const member = (right: fc.Arbitrary<unknown>) => fc.option(nearly(right), { nil: undefined, freq: 20 });

/** Mostly absent, because an object with several of them is invalid. */
const rarely = (value: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });

const userIds = fc.constantFrom('u-1', 'u-2', 'u-3', 'u-4');
const alias = fc.record({ alias_name: nearly(userIds), alias_label: nearly(fc.constantFrom('crm', 'app')) });
const email = fc.constantFrom('a@example.org', 'B@example.org', 'not an address');
const phone = fc.constantFrom('+48123456789', '+48 123 456 789', '12');
const identifiers = {
  external_id: fc.option(nearly(userIds), { nil: undefined, freq: 2 }),
  user_alias: rarely(nearly(alias)),
  braze_id: rarely(anything),
  email: rarely(nearly(email)),
  phone: rarely(nearly(phone)),
  _update_existing_only: rarely(nearly(fc.boolean())),
};

const customValue = fc.oneof(
  anything,
  fc.record({ inc: nearly(fc.integer()) }),
  fc.record({ add: nearly(fc.array(oddScalar, { maxLength: 4 })) }),
  fc.record({ remove: nearly(fc.array(oddScalar, { maxLength: 4 })) }),
  fc.record({ $add: nearly(fc.array(oddObject, { maxLength: 3 })) }),
  fc.record({
    $update: nearly(
      fc.array(
        fc.record({ $identifier_key: oddName, $identifier_value: oddScalar, $new_object: oddObject }),
        {
          maxLength: 3,
        },
      ),
    ),
  }),
  fc.record({
    $remove: nearly(fc.array(fc.record({ $identifier_key: oddName, $identifier_value: oddScalar }))),
  }),
);

const attributes = fc
  .record({
    ...identifiers,
    first_name: member(fc.string()),
    dob: member(time),
    gender: member(fc.constantFrom('M', 'F', 'X')),
    country: member(fc.constantFrom('PL', 'Poland', 'nowhere')),
    language: member(fc.constantFrom('pl', 'en-IN', 'xx')),
    time_zone: member(fc.constantFrom('Europe/Warsaw', 'Mars')),
    current_location: member(fc.record({ longitude: oddNumber, latitude: oddNumber })),
    email_subscribe: member(fc.constantFrom('subscribed', 'opted_in', 'maybe')),
    subscription_groups: member(
      fc.array(fc.record({ subscription_group_id: oddText, subscription_state: oddText }), { maxLength: 3 }),
    ),
    push_tokens: member(
      fc.array(fc.record({ app_id: oddText, token: oddText, device_id: oddText }), { maxLength: 3 }),
    ),
    push_token_import: member(fc.boolean()),
    _merge_objects: member(fc.boolean()),
  })
  .chain((object) =>
    fc.dictionary(oddName, customValue, { maxKeys: 4 }).map((custom) => ({ ...custom, ...object })),
  );

const event = fc.record({
  ...identifiers,
  app_id: member(fc.constant(APP_ID)),
  name: member(oddText),
  time: member(time),
  properties: member(oddObject),
});
const purchase = fc.record({
  ...identifiers,
  product_id: member(oddText),
  currency: member(fc.constantFrom('EUR', 'usd', 'XXXX')),
  price: member(oddNumber),
  quantity: member(fc.integer({ min: -1, max: 101 })),
  time: member(time),
  properties: member(oddObject),
});

const list = (of: fc.Arbitrary<unknown>, maxLength = 4) => member(fc.array(nearly(of), { maxLength }));
const prioritization = nearly(
  fc.array(fc.constantFrom('identified', 'unidentified', 'most_recently_updated', 'least_recently_updated'), {
    maxLength: 3,
  }),
);
const mergeIdentifier = fc.record(
  {
    external_id: nearly(userIds),
    user_alias: nearly(alias),
    email: nearly(email),
    phone: nearly(phone),
    prioritization,
  },
  { requiredKeys: [] },
);
const envelope = {
  external_user_id: member(userIds),
  app_id: member(fc.constant(APP_ID)),
  app_version: member(fc.constant('1.0')),
};

/** Values shaped like an example, with odd values and missing fields. */
const nearlyLike = (example: unknown): fc.Arbitrary<unknown> => {
  if (Array.isArray(example)) return list(fc.oneof(...example.map(nearlyLike)));
  if (typeof example !== 'object' || example === null) return nearly(fc.constant(example));
  const fields = Object.entries(example).map(([name, value]) => [name, nearlyLike(value)]);
  return fc.record(Object.fromEntries(fields), { requiredKeys: [] });
};

/** Valid, nearly valid and absurd bodies of an endpoint. `bannerIds`: IDs that the service issued. */
export const getBodies = (
  { path, operation }: Pick<Route, 'path' | 'operation'>,
  bannerIds: readonly string[],
): fc.Arbitrary<unknown> => {
  const shapes: Record<string, fc.Arbitrary<unknown>> = {
    '/users/track': fc.record({
      attributes: list(attributes),
      events: list(event),
      purchases: list(purchase),
    }),
    '/users/track/bulk': fc.record({
      attributes: list(attributes),
      events: list(event),
      purchases: list(purchase),
    }),
    '/users/identify': fc.record({
      aliases_to_identify: list(fc.record({ external_id: nearly(userIds), user_alias: nearly(alias) })),
      emails_to_identify: list(
        fc.record({ external_id: nearly(userIds), email: nearly(email), prioritization }),
      ),
      phone_numbers_to_identify: list(
        fc.record({ external_id: nearly(userIds), phone: nearly(phone), prioritization }),
      ),
    }),
    '/users/merge': fc.record({
      merge_updates: list(
        fc.record({
          identifier_to_merge: nearly(mergeIdentifier),
          identifier_to_keep: nearly(mergeIdentifier),
        }),
      ),
    }),
    '/users/alias/new': fc.record({
      user_aliases: list(
        fc.record({
          external_id: member(userIds),
          alias_name: nearly(userIds),
          alias_label: nearly(oddText),
        }),
      ),
    }),
    '/users/delete': fc.oneof(
      fc.record({ external_ids: list(userIds) }),
      fc.record({ user_aliases: list(nearly(alias)) }),
      fc.record({ email_addresses: list(fc.record({ email: nearly(email), prioritization })) }),
      fc.record({ external_ids: list(userIds), braze_ids: list(oddText) }),
    ),
    '/users/export/ids': fc.record({
      external_ids: list(userIds),
      user_aliases: list(alias),
      email_address: rarely(nearly(email)),
      phone: rarely(nearly(phone)),
      fields_to_export: list(fc.constantFrom('external_id', 'custom_attributes', '__proto__')),
    }),
    '/v1/device-messaging/banners/sync': fc.record({
      ...envelope,
      placements: list(fc.constantFrom('home', 'side', '__proto__'), 12),
      device_id: member(oddText),
    }),
    '/v1/device-messaging/banners/track': fc.record({
      ...envelope,
      events: list(
        fc.record({
          id: nearly(fc.constantFrom(...bannerIds)),
          event_type: nearly(fc.constantFrom('impression', 'click', 'dismiss')),
          timestamp: nearly(time),
        }),
      ),
    }),
  };
  return fc.oneof(
    { weight: 12, arbitrary: shapes[path] ?? nearlyLike(operation.example) },
    { weight: 1, arbitrary: anything },
  );
};

const deep = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth);

/** Malformed bytes, derived from a valid body. */
export const toBytes = (text: string): fc.Arbitrary<Uint8Array> => {
  const plain = Buffer.from(text);
  const inside = (json: string) =>
    Buffer.from(`{"attributes":[{"external_id":"u-1","deep":${json}}],${text.slice(1)}`);
  return fc.oneof(
    { weight: 30, arbitrary: fc.constant(plain) },
    fc.nat(plain.length).map((length) => plain.subarray(0, length)),
    fc.tuple(fc.nat(Math.max(0, plain.length - 1)), fc.nat(255)).map(([position, byte]) => {
      const changed = Buffer.from(plain);
      if (changed.length > 0) changed[position] = byte;
      return changed;
    }),
    // Lazily, because some of them are large.
    fc
      .constantFrom(
        () => Buffer.from(text, 'utf16le'),
        () => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), plain]),
        () => Buffer.concat([plain, plain]),
        () => inside(deep(5_000, '[', ']')),
        () => inside(deep(5_000, '{"a":', '}').replace('}', '1}')),
        () => inside(deep(60, '{"a":', '}').replace('}', '1}')),
        () => inside('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'),
        () => inside('1e999'),
        () => inside('-1e-999'),
        () => inside('123456789012345678901234567890'),
        () => inside('"\\ud800"'),
        () => inside('{"a":1,"a":2}'),
        () => Buffer.from(deep(100_000, '[', ']')),
        () => Buffer.from('{"__proto__":{"attributes":[{"external_id":"u-1"}]}}'),
        () =>
          Buffer.from(
            '{"attributes":[{"external_id":"u-1","external_id":"u-2"}],"attributes":[{"external_id":"u-3"}]}',
          ),
      )
      .map((make) => make()),
  );
};
