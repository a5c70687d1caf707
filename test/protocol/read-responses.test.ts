import { describe, expect, it } from 'vitest';
import { readBanner, readSyncResponse, readTrackSuccess } from '../../src/protocol/index.ts';
import { bannersTrackResponse, wireBanner } from '../../src/protocol/schemas/index.ts';
import fc, { times } from '../helpers/property.ts';

const RUNS = times(2_500);

const odd = fc.constantFrom<unknown[]>(null, true, 0, -1, 1.5, Number.NaN, Infinity, '', 'text', [], {}, [
  'x',
]);
const maybe = (right: fc.Arbitrary<unknown>) =>
  fc.oneof(
    { weight: 20, arbitrary: right },
    { weight: 1, arbitrary: odd },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );
/** JSON omits members that are `undefined`. */
const present = (object: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

const property = fc.record({
  type: maybe(fc.constantFrom('string', 'number', 'video')),
  value: fc.oneof(fc.string(), odd),
});
const banners = fc.oneof(
  {
    weight: 30,
    arbitrary: fc
      .record({
        id: maybe(fc.string({ minLength: 1 })),
        placement_id: maybe(fc.constant('home')),
        is_control: maybe(fc.boolean()),
        is_test_send: maybe(fc.boolean()),
        expires_at: maybe(fc.integer({ min: -1 })),
        properties: maybe(
          fc
            .dictionary(
              fc.string().filter((name) => name !== '__proto__'),
              maybe(property.map(present)),
              { maxKeys: 3 },
            )
            .map(present),
        ),
        more: maybe(fc.string()),
      })
      .map(present),
  },
  { weight: 1, arbitrary: odd },
);

describe('a banner of a response', () => {
  it('is parsed by its schema from any response, and an invalid property does not affect others', () => {
    const read = { banners: 0, refused: 0 };
    fc.assert(
      fc.property(banners, (banner) => {
        const { data, error } = wireBanner.safeParse(banner);
        const found = readBanner('home', banner);
        const isInside = (path: PropertyKey[]) => path[0] === 'properties' && path.length > 1;
        const wrong = (error?.issues ?? [])
          .filter(({ path }) => !isInside(path))
          .map(({ path }) => path[0] ?? 'home');
        // The response schema knows the key, the banner schema does not.
        if (data ? data.placement_id !== 'home' : Object(banner).placement_id !== 'home')
          wrong.push('placement_id');
        if (wrong.length > 0) expect(wrong).toContain(found);
        else if (data) expect(found).toEqual(data);
        else {
          expect(found).not.toBeTypeOf('string');
          for (const { path } of error!.issues) {
            const name = String(path[1]);
            const { properties } = found as { properties: Record<string, unknown> };
            const sent = (banner as { properties: Record<string, unknown> }).properties[name];
            // A property without a value keeps its type, but no getter returns it.
            if (path[2] !== 'value') expect(properties[name]).toEqual({ type: '', value: sent });
          }
        }
        read[typeof found === 'string' ? 'refused' : 'banners'] += 1;
      }),
      { numRuns: RUNS },
    );
    expect(Math.min(read.banners, read.refused)).toBeGreaterThan(RUNS / 10);
  });

  it('keeps a property with any name', () => {
    const properties = JSON.parse(
      '{"__proto__":{"type":"string","value":"x"},"constructor":{"type":"number","value":1}}',
    );
    const banner = { id: 'b', placement_id: '__proto__', expires_at: -1, properties };
    const found = readBanner('__proto__', banner);
    expect(found).toMatchObject({
      id: 'b',
      placement_id: '__proto__',
      is_control: false,
      is_test_send: false,
    });
    expect(Object.entries((found as typeof banner).properties)).toEqual(Object.entries(properties));
  });

  it.each([null, undefined, 'text', 5, [], {}, { banners: null }, { banners: [] }])(
    'is not found in %j',
    (body) => {
      expect(readSyncResponse(body)).toBeUndefined();
    },
  );
});

describe('a response of banners/track', () => {
  const answers = fc.oneof(
    {
      weight: 30,
      arbitrary: fc
        .record({
          events_processed: maybe(fc.nat()),
          message: maybe(fc.constant('success')),
          errors: maybe(fc.array(fc.anything())),
          more: maybe(fc.string()),
        })
        .map(present),
    },
    { weight: 1, arbitrary: odd },
  );

  it('is parsed by its schema, with defaults for missing members', () => {
    let valid = 0;
    fc.assert(
      fc.property(answers, (answer) => {
        const { data } = bannersTrackResponse.safeParse(answer);
        const found = readTrackSuccess(answer);
        if (data) expect(found).toEqual({ events_processed: undefined, errors: undefined, ...data });
        valid += data ? 1 : 0;
        const { events_processed, message } = Object(answer) as Record<string, unknown>;
        const isUnreadable =
          Object.prototype.toString.call(answer) !== '[object Object]' ||
          (events_processed != null && !Number.isFinite(events_processed)) ||
          (message !== undefined && typeof message !== 'string');
        expect(found === undefined).toBe(isUnreadable);
      }),
      { numRuns: RUNS },
    );
    expect(valid).toBeGreaterThan(RUNS / 10);
  });
});
