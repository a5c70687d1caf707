import { expect, test } from 'vitest';
import {
  readTrack,
  TRACK_FORMAT,
  type TrackText,
  writeTrack,
} from '../../../src/service/replicas/track-text.ts';
import type { Track } from '../../../src/service/users/track-work.ts';
import { APP_ID } from '../../helpers/a-workspace.ts';
import fc from '../../helpers/property.ts';
import { aTrack, GROUP, TIME } from './a-track.ts';

const read = (text: string): Track => readTrack(JSON.parse(text) as TrackText);

const everything = {
  attributes: [
    { external_id: 'a' },
    {
      external_id: 'a',
      email: 'kim@example.org',
      phone: null,
      _update_existing_only: true,
      _merge_objects: true,
      first_name: 'Kim',
      country: null,
      visits: { inc: 2 },
      tags: { add: ['x'], remove: ['y'] },
      cart: [{ id: 1 }],
      home: { city: 'Łódź' },
      gone: null,
      subscription_groups: [{ subscription_group_id: GROUP, subscription_state: 'subscribed' }],
      push_tokens: [{ app_id: APP_ID, token: 't-1', device_id: '4f1d8c52-90ab-4c7e-b1d2-6a5e4f3c2b1a' }],
    },
  ],
  events: [
    { external_id: 'b', email: null, name: 'seen', time: TIME, app_id: APP_ID, properties: { n: [1] } },
    { external_id: 'b', name: 'late', time: '2027-01-01T00:00:00Z' },
  ],
  purchases: [
    { external_id: 'c', product_id: 'p', currency: 'eur', price: 1.5, quantity: 2, time: TIME, phone: '' },
  ],
};

test('another replica reads what was written', () => {
  const track = aTrack(everything);
  expect(track.attributes).toHaveLength(2);
  expect(track.doings).toHaveLength(3);
  expect(read(writeTrack(track))).toEqual(track);
});

test('whatever the values are', () => {
  const text = fc.string({ unit: 'binary', maxLength: 20 });
  const name = fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'first_name', 'email', 'tier'));
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<unknown>,
    fc.record({ inc: fc.integer() }),
    fc.record({ add: fc.array(text, { maxLength: 3 }) }),
    fc.record({
      $update: fc.constant([{ $identifier_key: 'k', $identifier_value: 1, $new_object: { k: 2 } }]),
    }),
  );
  const object = fc
    .tuple(fc.dictionary(name, value, { maxKeys: 5 }), text)
    .map(([members, external_id]) => ({ ...members, external_id }));
  const doing = fc.tuple(object, fc.dictionary(name, value, { maxKeys: 3 })).map(([members, properties]) => ({
    ...members,
    name: 'n',
    product_id: 'p',
    currency: 'EUR',
    price: 1,
    time: TIME,
    properties,
  }));
  const list = fc.array(object, { maxLength: 3 });
  const doings = fc.array(doing, { maxLength: 3 });
  let objects = 0;
  fc.assert(
    fc.property(list, doings, doings, (attributes, events, purchases) => {
      const track = aTrack({ attributes, events, purchases });
      objects += track.attributes.length + track.doings.length;
      // A bad nested value costs the request its nested ones, which `nestedAllowed` says.
      for (const checked of track.attributes) checked.hasBadNested = false;
      // As JSON the two are the same text: it knows no -0, as the database knows none.
      expect(JSON.stringify(read(writeTrack(track)))).toBe(JSON.stringify(track));
    }),
    { numRuns: 500 },
  );
  expect(objects).toBeGreaterThan(500);
});

test('the text is as replicas of other releases know it: where it changes, its format must grow', () => {
  expect({ format: TRACK_FORMAT, text: JSON.parse(writeTrack(aTrack(everything))) }).toMatchInlineSnapshot(`
    {
      "format": 1,
      "text": {
        "attributes": [
          {
            "custom": [],
            "standard": [],
            "user": "a",
          },
          {
            "custom": [
              {
                "by": 2,
                "kind": "increment",
                "name": "visits",
              },
              {
                "add": [
                  "x",
                ],
                "kind": "edit list",
                "name": "tags",
                "remove": [
                  "y",
                ],
              },
              {
                "kind": "objects",
                "name": "cart",
                "value": [
                  {
                    "id": 1,
                  },
                ],
              },
              {
                "kind": "object",
                "name": "home",
                "value": {
                  "city": "Łódź",
                },
              },
              {
                "kind": "clear",
                "name": "gone",
              },
            ],
            "email": "kim@example.org",
            "existing": true,
            "groups": [
              {
                "doubleOptIn": false,
                "groupId": "7d1f2a00-0000-4000-8000-000000000001",
                "state": "subscribed",
              },
            ],
            "merge": true,
            "phone": null,
            "standard": [
              {
                "name": "first_name",
                "value": "Kim",
              },
              {
                "name": "country",
                "value": null,
              },
            ],
            "tokens": [
              {
                "app_id": "3f1d8c52-90ab-4c7e-b1d2-6a5e4f3c2b1a",
                "device_id": "4f1d8c52-90ab-4c7e-b1d2-6a5e4f3c2b1a",
                "token": "t-1",
              },
            ],
            "user": "a",
          },
        ],
        "doings": [
          {
            "appId": "3f1d8c52-90ab-4c7e-b1d2-6a5e4f3c2b1a",
            "details": {
              "properties": {
                "n": [
                  1,
                ],
              },
            },
            "kind": "event",
            "name": "seen",
            "time": "2026-02-01T00:00:00Z",
            "timeMs": 1769904000000,
            "user": "b",
          },
          {
            "appId": null,
            "details": {},
            "kind": "event",
            "name": "late",
            "time": "2026-03-01T00:00:00.000Z",
            "timeMs": 1772323200000,
            "user": "b",
          },
          {
            "appId": null,
            "details": {
              "currency": "EUR",
              "price": 1.5,
              "quantity": 2,
            },
            "kind": "purchase",
            "name": "p",
            "time": "2026-02-01T00:00:00Z",
            "timeMs": 1769904000000,
            "user": "c",
          },
        ],
        "nestedAllowed": false,
        "nowMs": 1772323200000,
        "workspaceId": "test",
      },
    }
  `);
});

test('a user without an external ID is not handed over', () => {
  const track = aTrack({ attributes: [{ email: 'kim@example.org' }] });
  expect(() => writeTrack(track)).toThrow('Only users with an external ID');
});
