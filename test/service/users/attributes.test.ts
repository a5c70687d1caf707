import { describe, expect, test } from 'vitest';
import { APP_ID, getErrors, NEWSLETTER, onBothStores, SMS_GROUP } from './on-both-stores.ts';

const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });

onBothStores('contract 3.3: standard attributes', (api) => {
  const set = (members: Record<string, unknown>) =>
    api().track({ attributes: [{ external_id: 'u-1', ...members }] });

  test.each([
    ['first_name', 'Kim', 'Kim'],
    ['dob', '1990-02-28', '1990-02-28'],
    ['dob', '2/28/1990', '1990-02-28'],
    // The date as written, whatever the time zone.
    ['dob', '1990-02-28T23:30:00-05:00', '1990-02-28'],
    ['dob', '1990-05-01T00:00:00+02:00', '1990-05-01'],
    ['dob', 'Tue 05 01 00:30:00.+0200 1990', '1990-05-01'],
    ['gender', 'F', 'F'],
    ['country', 'PL', 'PL'],
    ['country', 'pl', 'PL'],
    ['country', 'Poland', 'PL'],
    ['country', ' pl ', 'PL'],
    ['country', 'United States of America', 'US'],
    // Withdrawn codes share names with their successors: East Germany's comes first in the alphabet.
    ['country', 'Germany', 'DE'],
    ['country', 'Vietnam', 'VN'],
    ['country', 'Yemen', 'YE'],
    ['country', 'Zimbabwe', 'ZW'],
    ['country', 'Serbia', 'RS'],
    ['country', 'Curaçao', 'CW'],
    ['country', 'Hong Kong', 'HK'],
    ['country', 'Bosnia and Herzegovina', 'BA'],
    ['country', 'Saint Lucia', 'LC'],
    ['home_city', 'Łódź', 'Łódź'],
    ['language', 'pl', 'pl'],
    ['language', 'en-IN', 'en-IN'],
    ['time_zone', 'Europe/Warsaw', 'Europe/Warsaw'],
    ['time_zone', 'Eastern Time (US & Canada)', 'Eastern Time (US & Canada)'],
    ['current_location', { longitude: 19.45, latitude: 51.77 }, { longitude: 19.45, latitude: 51.77 }],
    ['image_url', `https://example.org/${'x'.repeat(1_000)}`, `https://example.org/${'x'.repeat(1_000)}`],
    ['email_subscribe', 'opted_in', 'opted_in'],
    ['push_subscribe', 'unsubscribed', 'unsubscribed'],
    ['email_open_tracking_disabled', true, true],
    ['marked_email_as_spam_at', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
    ['date_of_first_session', '2026-01-01', '2026-01-01'],
    ['facebook', { id: '1', likes: ['a'], num_friends: 3 }, { id: '1', likes: ['a'], num_friends: 3 }],
    ['twitter', { id: 1, screen_name: 'k' }, { id: 1, screen_name: 'k' }],
  ])('%s: stores %j as %j', async (name, value, stored) => {
    const answer = await set({ [name]: value });
    expect(getErrors(answer)).toEqual([]);
    expect((await api().user('u-1'))?.[name]).toEqual(stored);
    expect(await api().custom('u-1')).toEqual({});
  });

  test.each([
    ['first_name', 5, "'first_name' is not valid"],
    ['last_name', 'x'.repeat(256), "'last_name' is not valid"],
    ['last_name', 'a\ud800', "'last_name' is not valid"],
    ['dob', '1990-02-30', "'dob' is not valid"],
    ['dob', '0000-01-01T00:00:00+01:00', "'dob' is not valid"],
    ['gender', 'X', "'gender' is not valid"],
    ['country', 48, "'country' is not valid"],
    ['language', 'Polish', "'language' is not valid"],
    ['time_zone', 'Mars/Olympus', "'time_zone' is not valid"],
    ['current_location', { longitude: 1 }, 'BAD_LOCATION_UPDATE'],
    ['current_location', { longitude: 181, latitude: 0 }, 'BAD_LOCATION_UPDATE'],
    ['current_location', null, 'BAD_LOCATION_UPDATE'],
    ['image_url', 'x'.repeat(1_025), "'image_url' is not valid"],
    ['email_subscribe', 'yes', 'BAD_EMAIL_SUBSCRIPTION_STATE'],
    ['push_subscribe', 1, 'BAD_PUSH_SUBSCRIPTION_STATE'],
    ['email_click_tracking_disabled', 'true', "'email_click_tracking_disabled' is not valid"],
    ['date_of_last_session', 'soon', "'date_of_last_session' is not valid"],
    ['facebook', { likes: 'a' }, "'facebook' is not valid"],
    ['twitter', { id: '1' }, "'twitter' is not valid"],
    ['email_subscription_info', {}, 'INVALID_ATTRIBUTE_EMAIL_SUBSCRIPTION_INFO'],
  ])('%s: rejects %j, and applies the rest', async (name, value, code) => {
    const answer = await set({ [name]: value, tier: 'gold' });
    expect(answer).toMatchObject({ status: 201, body: { attributes_processed: 1 } });
    expect(getErrors(answer)).toEqual([`attributes[0] ${code}`]);
    expect(await api().user('u-1')).not.toHaveProperty(name);
    expect(await api().custom('u-1')).toEqual({ tier: 'gold' });
  });

  test.each(['Atlantis', 'DD', 'SU', 'EU'])('clears values by null and the country %j', async (country) => {
    await set({ first_name: 'Kim', gender: 'F', country: 'PL' });
    expect(getErrors(await set({ first_name: null, gender: null, country }))).toEqual([]);
    const user = await api().user('u-1');
    for (const name of ['first_name', 'gender', 'country']) expect(user).not.toHaveProperty(name);
  });

  test('stores other spellings as custom attributes, and ignores flags and reserved names', async () => {
    await set({
      First_Name: 'Kim',
      _merge_objects: false,
      push_token_import: false,
      alias_name: 'n',
      alias_label: 'l',
    });
    expect(await api().custom('u-1')).toEqual({ First_Name: 'Kim' });
  });
});

onBothStores('contract 3.6: custom attributes', (api) => {
  const set = (members: Record<string, unknown>) =>
    api().track({ attributes: [{ external_id: 'u-1', ...members }] });
  const after = async (...steps: Record<string, unknown>[]) => {
    for (const step of steps) expect(getErrors(await set(step))).toEqual([]);
    return (await api().custom('u-1'))['a'];
  };

  test.each<[string, Record<string, unknown>[], unknown]>([
    ['a text', [{ a: 'x' }], 'x'],
    ['an empty text', [{ a: '' }], ''],
    ['a number', [{ a: 1.5 }], 1.5],
    ['a boolean', [{ a: false }], false],
    ['a date, as it was sent', [{ a: '12/1/2021' }], '12/1/2021'],
    ['a typed date', [{ a: { $time: '2026-01-01T00:00:00Z' } }], '2026-01-01T00:00:00Z'],
    ['null removes', [{ a: 'x' }, { a: null }], undefined],
    ['inc of a missing value', [{ a: { inc: 2 } }], 2],
    ['inc by a negative number', [{ a: 5 }, { a: { inc: -7 } }], -2],
    ['inc of a text is ignored', [{ a: 'x' }, { a: { inc: 1 } }], 'x'],
    [
      'a list keeps the first of equal values',
      [{ a: ['x', 'y', 'x', 1, '1', true] }],
      ['x', 'y', 1, '1', true],
    ],
    ['a list replaces', [{ a: ['x'] }, { a: ['y'] }], ['y']],
    ['an empty list', [{ a: ['x'] }, { a: [] }], []],
    [
      'add appends, and moves existing values to the end',
      [{ a: ['x', 'y'] }, { a: { add: ['z', 'x'] } }],
      ['y', 'z', 'x'],
    ],
    ['add to a missing value', [{ a: { add: ['x', 'x'] } }], ['x']],
    ['remove', [{ a: ['x', 'y', 'z'] }, { a: { remove: ['y', 'q'] } }], ['x', 'z']],
    ['remove from a missing value', [{ a: { remove: ['y'] } }], undefined],
    ['add, then remove', [{ a: ['x'] }, { a: { remove: ['y', 'x'], add: ['y', 'z'] } }], ['z']],
    [
      '500 elements, and the oldest are removed',
      [{ a: Array.from({ length: 502 }, (_, i) => i) }, { a: { add: ['n'] } }],
      [...Array.from({ length: 499 }, (_, i) => i + 3), 'n'],
    ],
    [
      'add and remove ignore objects',
      [
        { a: Array.from({ length: 600 }, (_, i) => ({ i })) },
        { a: { remove: ['x'] } },
        { a: { add: ['x'] } },
      ],
      Array.from({ length: 600 }, (_, i) => ({ i })),
    ],
    ['$add ignores a list of texts', [{ a: ['x'] }, { a: { $add: [{ id: 1 }] } }], ['x']],
    ['an object', [{ a: { b: { c: [1, 'x'] } } }], { b: { c: [1, 'x'] } }],
    ['an object replaces', [{ a: { b: 1, c: 2 } }, { a: { c: 3 } }], { c: 3 }],
    [
      'an object merges on request',
      [{ a: { b: { x: 1, l: [1] }, c: 2 } }, { a: { b: { y: 2, l: [2] } }, _merge_objects: true }],
      { b: { x: 1, y: 2, l: [2] }, c: 2 },
    ],
    ['a nested date stays typed', [{ a: { at: { $time: '2026-01-01' } } }], { at: { $time: '2026-01-01' } }],
    [
      'a nested date too far in the future is not stored',
      [{ a: { b: 1, at: { $time: '4026-01-01' } } }],
      { b: 1 },
    ],
    [
      'a date object too far in the future adds nothing',
      [{ a: [{ id: 1 }] }, { a: { $add: [{ $time: '4026-01-01' }, { id: 2 }] } }],
      [{ id: 1 }, { id: 2 }],
    ],
    [
      'a date object too far in the future replaces nothing',
      [
        { a: [{ id: 1 }] },
        {
          a: {
            $update: [{ $identifier_key: 'id', $identifier_value: 1, $new_object: { $time: '4026-01-01' } }],
          },
        },
      ],
      [{ id: 1 }],
    ],
    ['objects in a list', [{ a: [{ id: 1 }, { id: 2 }] }], [{ id: 1 }, { id: 2 }]],
    ['$add', [{ a: [{ id: 1 }] }, { a: { $add: [{ id: 2 }] } }], [{ id: 1 }, { id: 2 }]],
    ['$add to a missing value', [{ a: { $add: [{ id: 2 }] } }], [{ id: 2 }]],
    [
      '$remove of every match',
      [
        { a: [{ id: 1, n: 1 }, { id: 2 }, { id: 1, n: 2 }] },
        { a: { $remove: [{ $identifier_key: 'id', $identifier_value: 1 }] } },
      ],
      [{ id: 2 }],
    ],
    [
      '$update replaces',
      [
        { a: [{ id: 1, n: 1 }] },
        { a: { $update: [{ $identifier_key: 'id', $identifier_value: 1, $new_object: { id: 1, m: 2 } }] } },
      ],
      [{ id: 1, m: 2 }],
    ],
    [
      '$update merges on request',
      [
        { a: [{ id: 1, n: 1 }] },
        {
          _merge_objects: true,
          a: { $update: [{ $identifier_key: 'id', $identifier_value: 1, $new_object: { m: 2 } }] },
        },
      ],
      [{ id: 1, n: 1, m: 2 }],
    ],
    [
      '$update of a missing value',
      [{ a: { $update: [{ $identifier_key: 'id', $identifier_value: 1, $new_object: { m: 2 } }] } }],
      undefined,
    ],
    [
      '$remove from a missing value',
      [{ a: { $remove: [{ $identifier_key: 'id', $identifier_value: 1 }] } }],
      undefined,
    ],
    ['an object with inc and other members is an object', [{ a: { inc: 1, b: 2 } }], { inc: 1, b: 2 }],
  ])('%s', async (_, steps, expected) => {
    expect(await after(...steps)).toEqual(expected);
  });

  test.each([
    ['a text of 256 characters', 'x'.repeat(256)],
    ['U+0000', 'a\u0000b'],
    ['a lone surrogate', '\udc00'],
    ['inc by a fraction', { inc: 1.5 }],
    ['inc by a text', { inc: '1' }],
    ['add of a value that is not a list', { add: 'x' }],
    ['add of objects', { add: [{ a: 1 }] }],
    ['a list of objects and texts', ['x', { a: 1 }]],
    ['a list of lists', [['x']]],
    ['a key with a space', { 'a b': 1 }],
    ['a key with a dot', { 'a.b': 1 }],
    ['a key with a dollar sign', { $set: 1 }],
    ['51 levels', deep(52)],
    ['more than 100 KB', { a: Array.from({ length: 500 }, () => 'x'.repeat(250)) }],
    ['$update without its key', { $update: [{ $new_object: {} }] }],
    ['an impossible typed date', { $time: 'soon' }],
  ])('%s does not affect other attributes', async (_, value) => {
    const answer = await set({ bad: value, tier: 'gold', nested: { ok: true } });
    expect(answer).toMatchObject({ status: 201, body: { attributes_processed: 1 } });
    expect(getErrors(answer)).toEqual(["attributes[0] 'bad' is not valid"]);
    expect(await api().custom('u-1')).toEqual({ tier: 'gold', nested: { ok: true } });
  });

  test('counts 255 characters, not bytes', async () => {
    const text = '🐢'.repeat(255);
    expect(await after({ a: text })).toBe(text);
    expect(getErrors(await set({ [text]: 1 }))).toEqual([]);
    expect(getErrors(await set({ [`${text}x`]: 1 }))).toHaveLength(1);
  });

  test('returns the first 100 errors of an object', async () => {
    const bad = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`a${i}`, [[]]]));
    const answer = await api().track({
      attributes: [
        { external_id: 'u-1', ...bad, tier: 'gold' },
        { external_id: 'u-2', b: [[]] },
      ],
    });
    expect(getErrors(answer)).toEqual([
      ...Array.from({ length: 100 }, (_, i) => `attributes[0] 'a${i}' is not valid`),
      "attributes[1] 'b' is not valid",
    ]);
    expect(await api().custom('u-1')).toEqual({ tier: 'gold' });
  });

  test('rejects 1e999 as a number', async () => {
    const answer = await api().track('{"attributes":[{"external_id":"u-1","a":1e999}]}');
    expect(getErrors(answer)).toEqual(["attributes[0] 'a' is not valid"]);
  });

  test('drops only the necessary oldest elements of a list of more than 100 KB', async () => {
    const element = (i: number) => `${i}`.padStart(3, '0') + 'ż'.repeat(250);
    const bytes = new TextEncoder().encode(JSON.stringify(element(0))).length + 1;
    const fitting = Math.floor((102_400 - 1) / bytes);
    const kept = (await after({ a: Array.from({ length: 400 }, (_, i) => element(i)) })) as string[];
    expect(kept).toHaveLength(fitting);
    expect([kept[0], kept.at(-1)]).toEqual([element(400 - fitting), element(399)]);
  });

  test('drops an addition completely if it would exceed 100 KB', async () => {
    const big = (id: number) => ({ id, t: Array.from({ length: 250 }, () => 'x'.repeat(200)) });
    await set({ a: [big(1)] });
    await set({ a: { $add: [big(2), big(3)] } });
    expect((await api().custom('u-1'))['a']).toEqual([big(1)]);
    await set({ o: { one: big(1) } });
    await set({ _merge_objects: true, o: { two: big(2), three: big(3) } });
    expect((await api().custom('u-1'))['o']).toEqual({ one: big(1) });
  });

  test('drops an update that would create gigabytes, and applies the other attributes', async () => {
    const list = Array.from({ length: 8_000 }, () => ({ a: 1 }));
    await set({ list });
    const long = Object.fromEntries(Array.from({ length: 390 }, (_, i) => [`k${i}`, 'x'.repeat(250)]));
    const update = { $update: [{ $identifier_key: 'a', $identifier_value: 1, $new_object: long }] };
    const answer = await set({ list: update, tier: 'gold' });
    expect(answer).toMatchObject({ status: 201, body: { attributes_processed: 1 } });
    expect(await api().custom('u-1')).toEqual({ list, tier: 'gold' });
  });

  test('limits the members written by updates of a request, reports each further one, and stores the rest', async () => {
    const list = Array.from({ length: 12_000 }, () => ({ a: 1 }));
    const ids = Array.from({ length: 14 }, (_, i) => `u-${i}`);
    for (const external_id of ids) await api().track({ attributes: [{ external_id, list }] });
    const update = { $update: [{ $identifier_key: 'a', $identifier_value: 1, $new_object: { a: 2 } }] };
    const one = { $update: [{ $identifier_key: 'a', $identifier_value: 3, $new_object: { a: 4 } }] };
    const answer = await api().track({
      attributes: [
        ...ids.map((external_id) => ({ external_id, list: update, tier: 'gold' })),
        { external_id: 'u-13', list: one, visits: { inc: 1 } },
      ],
    });
    // Two members each (the object and its own): ten lists make 240,000, and the eleventh would exceed 250,000.
    expect(answer).toMatchObject({ status: 201, body: { attributes_processed: 15 } });
    expect(getErrors(answer)).toEqual(
      [10, 11, 12, 13, 14].map(
        (at) =>
          `attributes[${at}] 'list' is not updated: the $update of one request may write 250,000 members of objects; send the rest in another request`,
      ),
    );
    const written = { list: list.map(() => ({ a: 2 })), tier: 'gold' };
    expect(await api().custom('u-9')).toEqual(written);
    expect(await api().custom('u-10')).toEqual({ list, tier: 'gold' });
    // An update without a match is not counted.
    expect(await api().custom('u-13')).toEqual({ list, tier: 'gold', visits: 1 });
    const rest = ids.slice(10).map((external_id) => ({ external_id, list: update }));
    expect(getErrors(await api().track({ attributes: rest }))).toEqual([]);
    expect(await api().custom('u-13')).toEqual({ ...written, visits: 1 });
  });

  describe.each([
    ['a null', { b: null }],
    ['an impossible time', { at: { $time: '2026-02-30' } }],
    ['a null among objects', [{ a: 1 }, null]],
    ['a null in an edit', { $add: [{ b: null }] }],
  ])('%s inside a nested value', (_, bad) => {
    test('drops the nested updates of the whole request and applies the rest', async () => {
      const answer = await api().track({
        attributes: [
          { external_id: 'u-1', nested: { fine: 1 }, list: [{ fine: 1 }], tier: 'gold', tags: ['x'] },
          { external_id: 'u-2', bad, worse: bad, tier: 'silver', n: { inc: 1 } },
          { external_id: 'u-3', edit: { $add: [{ fine: 1 }] }, first_name: 'Kim' },
        ],
        events: [
          { external_id: 'u-2', name: 'e', time: '2026-02-28T00:00:00Z', properties: { deep: { ok: 1 } } },
        ],
      });
      expect(answer).toMatchObject({ status: 201, body: { attributes_processed: 3, events_processed: 1 } });
      expect(getErrors(answer)).toEqual(["attributes[1] Invalid nested custom attribute 'bad'"]);
      expect(await api().custom('u-1')).toEqual({ tier: 'gold', tags: ['x'] });
      expect(await api().custom('u-2')).toEqual({ tier: 'silver', n: 1 });
      expect(await api().custom('u-3')).toEqual({});
      expect(await api().user('u-3')).toMatchObject({ first_name: 'Kim' });
      expect(await api().events()).toMatchObject([{ properties: { deep: { ok: 1 } } }]);
    });
  });

  test('are limited to 2,000 per user, of which every one can be changed and cleared', async () => {
    const names = Array.from({ length: 2_000 }, (_, i) => `n${i}`);
    await after(Object.fromEntries(names.map((name) => [name, 0])));
    const answer = await set({
      n1: { inc: 2 },
      one_more: 1,
      list: { add: ['a'] },
      objects: { $add: [{ a: 1 }] },
      nothing: { remove: ['a'] },
      nobody: null,
    });
    expect(getErrors(answer)).toEqual(
      ['one_more', 'list', 'objects'].map(
        (name) => `attributes[0] '${name}' is not set: a user may have 2,000 custom attributes`,
      ),
    );
    expect(getErrors(await set({ n2: null, one_more: 1, list: ['a'] }))).toEqual([
      "attributes[0] 'list' is not set: a user may have 2,000 custom attributes",
    ]);
    const custom = await api().custom('u-1');
    expect(Object.keys(custom)).toHaveLength(2_000);
    expect(custom).toMatchObject({ n1: 2, one_more: 1 });
  });
});

onBothStores('contract 3.4: subscription groups', (api) => {
  const set = (subscription_groups: unknown) =>
    api().track({ attributes: [{ external_id: 'u-1', subscription_groups }] });
  const item = (members: Record<string, unknown> = {}) => ({
    subscription_group_id: NEWSLETTER,
    subscription_state: 'subscribed',
    ...members,
  });

  test('are set by an ID in any case', async () => {
    const answer = await set([
      item({ subscription_group_id: NEWSLETTER.toUpperCase() }),
      item({
        subscription_group_id: SMS_GROUP,
        subscription_state: 'unsubscribed',
        use_double_opt_in_logic: true,
      }),
    ]);
    expect(getErrors(answer)).toEqual([]);
    expect((await api().user('u-1'))?.['subscription_groups']).toEqual([
      { subscription_group_id: NEWSLETTER, subscription_state: 'subscribed' },
      { subscription_group_id: SMS_GROUP, subscription_state: 'unsubscribed' },
    ]);
  });

  test.each([
    [{ a: 1 }, 'BAD_SUBSCRIPTION_GROUP_ARRAY'],
    [null, 'BAD_SUBSCRIPTION_GROUP_ARRAY'],
    [['x'], 'BAD_SUBSCRIPTION_GROUP_HASH'],
    [[{ subscription_group_id: NEWSLETTER }], 'BAD_SUBSCRIPTION_GROUP_HASH'],
    [[item({ subscription_group_id: 'newsletter' })], 'BAD_SUBSCRIPTION_GROUP_ID'],
    [[item({ subscription_group_id: '7d1f2a00-0000-4000-8000-00000000ffff' })], 'BAD_SUBSCRIPTION_GROUP_ID'],
    [[item({ subscription_state: 'opted_in' })], 'BAD_SUBSCRIPTION_GROUP_STATE'],
  ])('reports an error for %j', async (value, code) => {
    const answer = await set(value);
    expect(answer).toMatchObject({ status: 201, body: { attributes_processed: 1 } });
    expect(getErrors(answer)).toEqual([`attributes[0] ${code}`]);
    expect(await api().user('u-1')).not.toHaveProperty('subscription_groups');
  });

  test('are not affected by an invalid one', async () => {
    const answer = await set([item({ subscription_state: 'maybe' }), 3, item()]);
    expect(getErrors(answer)).toEqual([
      'attributes[0] BAD_SUBSCRIPTION_GROUP_STATE',
      'attributes[0] BAD_SUBSCRIPTION_GROUP_HASH',
    ]);
    expect((await api().user('u-1'))?.['subscription_groups']).toHaveLength(1);
  });
});

onBothStores('contract 3.5: push tokens', (api) => {
  const token = (members: Record<string, unknown> = {}) => ({
    app_id: APP_ID,
    token: 'token-1',
    device_id: 'device-01',
    ...members,
  });
  const set = (members: Record<string, unknown>) => api().track({ attributes: [members] });

  test('are added to the user, one per device, with a generated device ID if necessary', async () => {
    await set({ external_id: 'u-1', push_tokens: [token()] });
    await set({
      external_id: 'u-1',
      push_tokens: [token({ token: 'token-2' }), token({ token: 'token-3', device_id: undefined })],
    });
    expect((await api().user('u-1'))?.['push_tokens']).toEqual([
      token({ token: 'token-2' }),
      { app_id: APP_ID, token: 'token-3', device_id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    ]);
  });

  test.each([
    ['x', 'BAD_PUSH_TOKEN_VALUE'],
    [['x'], 'BAD_PUSH_TOKEN_VALUE'],
    [[token({ token: 7 })], 'BAD_PUSH_TOKEN_STRING'],
    [[token({ token: undefined })], 'BAD_PUSH_TOKEN_STRING'],
    [[token({ token: 't'.repeat(4_097) })], 'BAD_PUSH_TOKEN_STRING'],
    [[token({ app_id: 'other' })], 'BAD_PUSH_TOKEN_APP_ID'],
    [[token({ device_id: '1234567' })], 'BAD_DEVICE_ID'],
    [[token({ device_id: 'x'.repeat(256) })], 'BAD_DEVICE_ID'],
    [[token({ device_id: 12345678 })], 'BAD_DEVICE_ID'],
  ])('reports an error for %j, and applies the rest', async (push_tokens, code) => {
    const answer = await set({ external_id: 'u-1', push_tokens, tier: 'gold' });
    expect(answer).toMatchObject({ status: 201, body: { attributes_processed: 1 } });
    expect(getErrors(answer)).toEqual([`attributes[0] ${code}`]);
    expect(await api().custom('u-1')).toEqual({ tier: 'gold' });
    expect(await api().user('u-1')).not.toHaveProperty('push_tokens');
  });

  test('are limited to 1,000 per user, after which a token may only replace that of its device', async () => {
    const push_tokens = Array.from({ length: 1_000 }, (_, i) =>
      token({ token: `t-${i}`, device_id: `device-${i}` }),
    );
    await set({ external_id: 'u-1', push_tokens });
    await set({ external_id: 'u-1', push_tokens: [token({ device_id: 'device-7' })] });
    const answer = await set({
      external_id: 'u-1',
      push_tokens: [token({ token: 'one more' })],
      tier: 'gold',
    });
    expect(getErrors(answer)).toEqual(["attributes[0] 'push_tokens' are not added: a user may have 1,000"]);
    const user = await api().user('u-1');
    const stored = user?.['push_tokens'] as unknown[];
    expect(stored).toHaveLength(1_000);
    expect(stored.at(-1)).toEqual(token({ device_id: 'device-7' }));
    expect(user?.['custom_attributes']).toEqual({ tier: 'gold' });
  });

  test('are found if they are long', async () => {
    const text = '界'.repeat(999);
    for (let time = 0; time < 2; time += 1) {
      const answer = await set({ push_token_import: true, push_tokens: [token({ token: text })] });
      expect(answer).toEqual({ status: 201, body: { message: 'success', attributes_processed: 1 } });
    }
    expect(await api().users()).toHaveLength(1);
  });

  test('are imported for anonymous users, with one profile each, once', async () => {
    const tokens = {
      push_token_import: true,
      push_tokens: [token(), token({ token: 'token-2', device_id: 'device-02' })],
    };
    expect(await set(tokens)).toEqual({ status: 201, body: { message: 'success', attributes_processed: 1 } });
    await set(tokens);
    const users = await api().users();
    expect(users.map(({ push_tokens }) => (push_tokens as { token: string }[])[0]!.token).toSorted()).toEqual(
      ['token-1', 'token-2'],
    );
  });

  test('are imported for up to 75 anonymous users at once', async () => {
    const tokens = (count: number) =>
      Array.from({ length: count }, (_, i) => token({ token: `t-${i}`, device_id: `device-${i}` }));
    const tooMany = { push_token_import: true, push_tokens: tokens(76) };
    const answer = await api().track({ attributes: [tooMany, { external_id: 'u-1', tier: 'gold' }] });
    expect(answer).toMatchObject({ status: 201, body: { attributes_processed: 1 } });
    expect(getErrors(answer)).toEqual(['attributes[0] BAD_PUSH_TOKEN_IMPORT']);
    expect(await api().users()).toHaveLength(1);
    // No limit for the objects of one user.
    expect(getErrors(await set({ ...tooMany, email: 'kim@example.org' }))).toEqual([]);
    await set({ push_token_import: true, push_tokens: tokens(150).slice(75) });
    expect(await api().users()).toHaveLength(76);
  });

  test('are imported once, even if repeated in a request', async () => {
    const push_tokens = [
      { app_id: APP_ID, token: 't' },
      { app_id: APP_ID, token: 't' },
    ];
    await api().track({ attributes: [{ push_token_import: true, push_tokens }] });
    expect(await api().users()).toHaveLength(1);
  });

  test('are not imported again for a known user', async () => {
    await set({ external_id: 'u-1', push_tokens: [token()] });
    await set({ push_token_import: true, push_tokens: [token()] });
    expect(await api().users()).toHaveLength(1);
  });

  test.each([
    [{ push_token_import: true }],
    [{ push_token_import: true, push_tokens: [] }],
    [{ push_token_import: true, push_tokens: [token()], external_id: 'u-1' }],
    [{ push_token_import: true, push_tokens: [token()], braze_id: 'b' }],
  ])('is not imported: %j', async (object) => {
    const answer = await set(object);
    expect(answer.status).toBe(400);
    expect(getErrors(answer)).toEqual(['attributes[0] BAD_PUSH_TOKEN_IMPORT']);
  });
});
