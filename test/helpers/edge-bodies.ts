import { EVENT_TYPES } from '../../src/protocol/index.ts';
import { APP_ID } from './a-workspace.ts';
import fc from './property.ts';

/** Strings around a length limit in UTF-8 bytes or characters, of 1-, 2- and 4-byte characters. */
const around = (bound: number): string[] =>
  ['x', 'é', '😀'].flatMap((unit) => {
    const bytes = Buffer.byteLength(unit);
    const counts = [bound, bound + 1, Math.floor(bound / bytes), Math.floor(bound / bytes) + 1];
    return counts.map((count) => unit.repeat(count));
  });

/** Values of every JSON type, and strings that no store accepts. */
const odd = fc.constantFrom<unknown[]>(
  '',
  'a\0b',
  '\ud800',
  null,
  true,
  0,
  5,
  -1,
  1.5,
  1e300,
  [],
  {},
  ['x'],
  {
    x: 1,
  },
);
/** Mostly valid; sometimes at a limit, arbitrary or missing. */
const member = (right: readonly unknown[], bound?: number) =>
  fc.oneof(
    { weight: 40, arbitrary: fc.constantFrom(...right) },
    { weight: bound ? 4 : 0, arbitrary: fc.constantFrom(...around(bound ?? 1)) },
    { weight: 2, arbitrary: odd },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
const getList = (item: fc.Arbitrary<unknown>, maxLength: number) =>
  fc.oneof(
    { weight: 20, arbitrary: fc.array(item, { minLength: 1, maxLength }) },
    { weight: 1, arbitrary: fc.oneof(odd, fc.constant(undefined)) },
  );
/** Sometimes the body itself is not an object. */
const getBody = (members: Record<string, fc.Arbitrary<unknown>>) =>
  fc.oneof({ weight: 40, arbitrary: fc.record(members) }, { weight: 1, arbitrary: odd });

const TIMES = [
  '2026-03-01T09:15:00Z',
  '2026-03-01 09:15:00 +0100',
  '2026-02-29T00:00:00Z',
  '2026-03-01',
  'now',
];
/** Maximum length of an external ID, in bytes. */
const MAX_USER = 986;
/** External IDs of the bodies. */
export const EDGE_USERS = ['u-1', ...around(MAX_USER)];
const envelope = {
  external_user_id: member(['u-1'], MAX_USER),
  app_id: member([APP_ID]),
  app_version: member(['1.0'], 255),
};

export const syncBodies = getBody({
  ...envelope,
  placements: getList(member(['home', 'side', '__proto__']), 12),
  device_id: member([undefined, 'd-1'], 1_011),
});

/** `bannerId` is an ID that the service issued. */
export const bannersTrackBodies = (bannerId: string) =>
  getBody({
    ...envelope,
    events: getList(
      fc.oneof(
        {
          weight: 20,
          arbitrary: fc.record({
            id: fc.constantFrom<unknown[]>(
              bannerId,
              bannerId,
              bannerId,
              bannerId,
              bannerId,
              '',
              5,
              null,
              '\ud800',
            ),
            event_type: member([...EVENT_TYPES]),
            timestamp: member(TIMES.slice(0, 2)),
          }),
        },
        { weight: 1, arbitrary: odd },
      ),
      3,
    ),
  });

const maybe = (value: fc.Arbitrary<unknown>) => fc.option(value, { nil: undefined, freq: 2 });
const rarely = (value: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });
const alias = fc.record({ alias_name: member(['crm-90'], 236), alias_label: member(['crm'], 236) });
const identifiers = {
  external_id: fc.oneof(
    { weight: 8, arbitrary: member(['u-1', 'u-2', 7], 987) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  ),
  user_alias: rarely(fc.oneof(alias, odd)),
  braze_id: rarely(member(['b-1'])),
  email: rarely(
    member(['a@example.org', 'not an address', `${'x'.repeat(250)}@a.bc`, `${'x'.repeat(251)}@a.bc`]),
  ),
  phone: rarely(member(['+48 123 456 789', '12'])),
  _update_existing_only: rarely(member([true, false])),
};
const deep = (depth: number): unknown => (depth === 0 ? 1 : { a: deep(depth - 1) });
const properties = maybe(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom<unknown[]>(
        {},
        { score: 8, round: { no: 2 } },
        { ['😀'.repeat(255)]: 1 },
        { text: 'é'.repeat(255) },
        deep(49),
        { texts: Array.from({ length: 200 }, () => 'é'.repeat(100)) },
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom<unknown[]>(
        { $key: 1 },
        { time: 1 },
        { price: 1 },
        { ['k'.repeat(256)]: 1 },
        { text: 'x'.repeat(256) },
        deep(51),
        { texts: Array.from({ length: 300 }, () => 'é'.repeat(100)) },
        { texts: Array.from({ length: 600 }, () => 'é'.repeat(100)) },
        [],
        'text',
        5,
      ),
    },
  ),
);
const objects = (members: Record<string, fc.Arbitrary<unknown>>) =>
  maybe(getList(fc.oneof({ weight: 20, arbitrary: fc.record(members) }, { weight: 1, arbitrary: odd }), 2));

/** Without attribute values, which have their own tests. */
export const usersTrackBodies = getBody({
  attributes: objects({
    ...identifiers,
    tier: fc.constantFrom('gold', 1, true),
    push_token_import: rarely(member([true, false])),
    push_tokens: rarely(fc.constantFrom([], [{ app_id: APP_ID, token: 't' }])),
    _merge_objects: rarely(member([true, false])),
  }),
  events: objects({
    ...identifiers,
    name: member(['quiz_done'], 255),
    time: member(TIMES.slice(0, 2)),
    properties,
  }),
  purchases: objects({
    ...identifiers,
    product_id: member(['teapot', 7], 255),
    currency: member(['EUR', 'usd']),
    price: member([42.5, -1]),
    quantity: member([undefined, 1, 100, 0, 101]),
    time: member(TIMES),
    properties,
  }),
});
