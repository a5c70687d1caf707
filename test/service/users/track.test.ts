import { expect, test } from 'vitest';
import { BLOCKED, getErrors, NOW, onBothStores } from './on-both-stores.ts';

const TIME = '2026-02-28T10:00:00.000Z';
const NO_IDENTIFIER = "'external_id', 'braze_id', 'user_alias', 'email' or 'phone' is required";
const NO_VALID_DATA = "Valid data must be provided in the 'attributes', 'events', or 'purchases' fields.";

onBothStores('contract 2.2: POST /users/track', (api) => {
  test('returns 201 with a count for each array in the request', async () => {
    expect(
      await api().track({
        attributes: [{ external_id: 'u-1', tier: 'gold' }, { external_id: 'u-2' }],
        events: [{ external_id: 'u-1', name: 'quiz', time: TIME }],
      }),
    ).toEqual({ status: 201, body: { message: 'success', attributes_processed: 2, events_processed: 1 } });
    expect(await api().track({ attributes: [{ external_id: 'u-1' }], events: [], purchases: null })).toEqual({
      status: 201,
      body: { message: 'success', attributes_processed: 1, events_processed: 0 },
    });
  });

  test('reports each invalid object by its array and index, and accepts the others', async () => {
    const answer = await api().track({
      attributes: [{ tier: 'x' }, { external_id: 'u-1' }, 7],
      events: [
        { external_id: 'u-1', name: 'quiz', time: TIME },
        { name: 'quiz', time: TIME },
      ],
      purchases: [
        { external_id: 'u-1', product_id: 'p', currency: 'EUR', price: 1, quantity: 0, time: TIME },
      ],
    });
    expect(answer).toEqual({
      status: 201,
      body: {
        message: 'success',
        attributes_processed: 1,
        events_processed: 1,
        purchases_processed: 0,
        errors: [
          { type: NO_IDENTIFIER, input_array: 'attributes', index: 0 },
          { type: NO_IDENTIFIER, input_array: 'attributes', index: 2 },
          { type: NO_IDENTIFIER, input_array: 'events', index: 1 },
          { type: "'quantity' is not valid", input_array: 'purchases', index: 0 },
        ],
      },
    });
  });

  test('returns 400 with all errors and stores nothing if no object is valid', async () => {
    expect(await api().track({ attributes: [{ tier: 'x' }] })).toEqual({
      status: 400,
      body: {
        message: NO_VALID_DATA,
        errors: [{ type: NO_IDENTIFIER, input_array: 'attributes', index: 0 }],
      },
    });
    expect(await api().users()).toEqual([]);
  });

  test.each([[{}], [{ attributes: [] }], [{ events: null }], [[]], [null], [3]])(
    'returns 400 for %j, which has no data',
    async (body) => {
      expect(await api().track(body)).toEqual({
        status: 400,
        body: { message: NO_VALID_DATA, errors: [{ type: NO_VALID_DATA }] },
      });
    },
  );

  test('returns 400 if a member is not an array', async () => {
    const answer = await api().track({ attributes: { external_id: 'u-1' } });
    expect(answer).toMatchObject({
      status: 400,
      body: { message: "'attributes' must be an array of objects" },
    });
  });

  test('accepts 75 objects over all arrays and rejects 76', async () => {
    const body = (events: number) => ({
      attributes: Array.from({ length: 40 }, (_, i) => ({ external_id: `u-${i}` })),
      events: Array.from({ length: events }, () => ({ external_id: 'u-1', name: 'e', time: TIME })),
    });
    expect(await api().track(body(36))).toEqual({
      status: 400,
      body: { message: 'Max Input Length Exceeded', errors: [{ type: 'Max Input Length Exceeded' }] },
    });
    expect(await api().users()).toEqual([]);
    expect(await api().track(body(35))).toMatchObject({ status: 201, body: { events_processed: 35 } });
  });

  test('applies attributes before events, so that events find new aliases', async () => {
    const user_alias = { alias_name: 'n', alias_label: 'l' };
    await api().track({
      events: [{ user_alias, name: 'opened', time: TIME }],
      attributes: [{ user_alias, _update_existing_only: false }],
    });
    expect(await api().users()).toMatchObject([{ custom_events: [{ name: 'opened', count: 1 }] }]);
  });

  test('counts a data point for each custom attribute, event and purchase', async () => {
    await api().track({
      attributes: [{ external_id: 'u-1', tier: 'gold', visits: { inc: 1 }, first_name: 'Kim' }],
      events: [{ external_id: 'u-1', name: 'quiz', time: TIME }],
      purchases: [{ external_id: 'u-1', product_id: 'p', currency: 'EUR', price: 1, time: TIME }],
    });
    expect(await api().dataPoints()).toEqual([{ day: '2026-03-01', data_points: 4 }]);
  });

  test('accepts names such as __proto__ and constructor', async () => {
    const body = `{"attributes":[{"external_id":"u-1","__proto__":{"polluted":true},"constructor":"c","toString":1}],
      "events":[{"external_id":"u-1","name":"__proto__","time":"${TIME}","properties":{"__proto__":{"a":1}}}]}`;
    expect(await api().track(body)).toMatchObject({ status: 201 });
    const custom = await api().custom('u-1');
    expect(Object.keys(custom).toSorted()).toEqual(['__proto__', 'constructor', 'toString']);
    expect(JSON.stringify(custom)).toContain('"__proto__":{"polluted":true}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(await api().user('u-1')).toMatchObject({ custom_events: [{ name: '__proto__', count: 1 }] });
    expect(JSON.stringify((await api().events())[0]?.['properties'])).toBe('{"__proto__":{"a":1}}');
  });
});

onBothStores('contract 5.2: identifiers', (api) => {
  test.each([
    [{ external_id: 'a', braze_id: 'b' }, "Only one of 'external_id', 'user_alias' or 'braze_id' is allowed"],
    [
      { external_id: 'a', user_alias: { alias_name: 'n', alias_label: 'l' } },
      "Only one of 'external_id', 'user_alias' or 'braze_id' is allowed",
    ],
    [{ external_id: BLOCKED }, 'BLACKLISTED_EXTERNAL_USER_ID'],
    [{ external_id: 'x'.repeat(988) }, 'EXTERNAL_USER_ID_TOO_LARGE'],
    [{ external_id: 'ż'.repeat(494) }, 'EXTERNAL_USER_ID_TOO_LARGE'],
    [{ external_id: 'a\u0000b' }, "'external_id' is not valid"],
    [{ external_id: { a: 1 } }, "'external_id' is not valid"],
    [{ external_id: null, braze_id: '' }, NO_IDENTIFIER],
    [{ user_alias: { alias_name: 'n' } }, "'user_alias' is not valid"],
    [{ user_alias: { alias_name: 'n'.repeat(237), alias_label: 'l' } }, "'user_alias' is not valid"],
    [{ user_alias: 'n' }, "'user_alias' is not valid"],
    [{ email: 'not an address' }, 'EMAIL_BAD_FORMAT'],
    [{ email: `${'a'.repeat(250)}@b.example` }, 'EMAIL_BAD_FORMAT'],
    [{ phone: '12' }, "'phone' is not valid"],
    // An invalid flag must not create the user that the flag was meant to prevent.
    [{ external_id: 'u-1', _update_existing_only: 'true' }, "'_update_existing_only' is not valid"],
    [{ external_id: 'u-1', _update_existing_only: 1 }, "'_update_existing_only' is not valid"],
  ])('rejects %j', async (identifiers, code) => {
    for (const array of ['attributes', 'events', 'purchases']) {
      const rest = { name: 'e', time: TIME, product_id: 'p', currency: 'EUR', price: 1 };
      const answer = await api().track({
        [array]: [{ ...identifiers, ...(array === 'attributes' ? {} : rest) }],
      });
      expect(answer.status).toBe(400);
      expect(getErrors(answer)).toEqual([`${array}[0] ${code}`]);
    }
    expect(await api().users()).toEqual([]);
  });

  test('accepts external IDs of 987 bytes, and numbers as their digits', async () => {
    const longest = 'x'.repeat(987);
    const answer = await api().track({ attributes: [{ external_id: longest }, { external_id: 12345 }] });
    expect(answer).toMatchObject({ status: 201, body: { attributes_processed: 2 } });
    expect(await api().user(longest)).toBeDefined();
    expect(await api().user('12345')).toBeDefined();
  });

  test.each(['9007199254740993', '123456789012345678901234', '1e21', '1e-7'])(
    'rejects the number %s as an external ID, because it would be read as another user’s',
    async (number) => {
      const answer = await api().track(`{"attributes":[{"external_id":${number},"a":1}]}`);
      expect(answer.status).toBe(400);
      expect(getErrors(answer)).toEqual(["attributes[0] 'external_id' is not valid"]);
    },
  );

  test.each(['12345678901234567890', '-9007199254740993', '1e300', '1e999'])(
    'rejects the number %s if it would be stored as another number',
    async (number) => {
      const event = (properties: string) =>
        `{"external_id":"u-1","name":"order","time":"${TIME}","properties":${properties}}`;
      const answer = await api().track(
        `{"attributes":[{"external_id":"u-1","tier":"gold","id":${number},"ids":[${number}],"nested":{"id":${number}}}],
        "events":[${event(`{"order_id":${number}}`)},${event(`{"order":{"id":${number}}}`)},
        ${event('{"order_id":9007199254740991,"text":"12345678901234567890","share":0.1234567890123456789}')}]}`,
      );
      expect(answer).toMatchObject({ status: 201, body: { attributes_processed: 1, events_processed: 1 } });
      expect(getErrors(answer)).toEqual([
        "attributes[0] 'id' is not valid",
        "attributes[0] 'ids' is not valid",
        "attributes[0] 'nested' is not valid",
        "events[0] Invalid 'properties' field",
        "events[1] Invalid 'properties' field",
      ]);
      expect(await api().user('u-1')).toMatchObject({ custom_attributes: { tier: 'gold' } });
    },
  );

  test('drops only an invalid e-mail or phone beside an identifier', async () => {
    const answer = await api().track({
      attributes: [{ external_id: 'u-1', email: 'nope', phone: 'nope', tier: 'gold' }],
    });
    expect(answer).toMatchObject({ status: 201, body: { attributes_processed: 1 } });
    expect(getErrors(answer)).toEqual([
      'attributes[0] EMAIL_BAD_FORMAT',
      "attributes[0] 'phone' is not valid",
    ]);
    expect(await api().user('u-1')).toMatchObject({ custom_attributes: { tier: 'gold' } });
    expect(await api().user('u-1')).not.toHaveProperty('email');
  });
});

onBothStores('contract 3.7: events and purchases', (api, store) => {
  const event = (change: Record<string, unknown>) => ({
    external_id: 'u-1',
    name: 'quiz',
    time: TIME,
    ...change,
  });
  const purchase = (change: Record<string, unknown>) => ({
    external_id: 'u-1',
    product_id: 'sku',
    currency: 'EUR',
    price: 9.5,
    time: TIME,
    ...change,
  });
  const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });

  test.each([
    [{ name: undefined }, "'name' is required"],
    [{ name: '' }, "'name' is not valid"],
    [{ name: 7 }, "'name' is not valid"],
    [{ name: 'x'.repeat(256) }, "'name' is not valid"],
    [{ time: undefined }, "'time' is required"],
    [{ time: 'yesterday' }, "'time' is not valid"],
    [{ time: '2026-02-30T00:00:00Z' }, "'time' is not valid"],
    [{ time: '2100-02-29T00:00:00Z' }, "'time' is not valid"],
    [{ time: '0000-01-01T00:00:00+14:00' }, "'time' is not valid"],
    [{ time: '2026-02-28T10:00:00' }, "'time' is not valid"],
    [{ time: 1772272800 }, "'time' is not valid"],
    [{ properties: [] }, "Invalid 'properties' field"],
    [{ properties: { time: 1 } }, "Invalid 'properties' field"],
    [{ properties: { event_name: 'x' } }, "Invalid 'properties' field"],
    [{ properties: { $bad: 1 } }, "Invalid 'properties' field"],
    [{ properties: { '': 1 } }, "Invalid 'properties' field"],
    [{ properties: { a: 'x'.repeat(256) } }, "Invalid 'properties' field"],
    [{ properties: { a: '\u0000' } }, "Invalid 'properties' field"],
    [{ properties: deep(60) }, "Invalid 'properties' field"],
    [{ properties: { a: Array.from({ length: 900 }, () => 'x'.repeat(150)) } }, "Invalid 'properties' field"],
  ])('rejects an event with %j', async (change, code) => {
    const answer = await api().track({ events: [event(change)] });
    expect(answer.status).toBe(400);
    expect(getErrors(answer)).toEqual([`events[0] ${code}`]);
  });

  test.each([
    [{ product_id: undefined }, "'product_id' is required"],
    [{ product_id: '' }, "'product_id' is not valid"],
    [{ currency: undefined }, "'currency' is required"],
    [{ product_id: 2 ** 53 }, "'product_id' is not valid"],
    [{ currency: 'EURO' }, "'currency' is not valid"],
    [{ price: undefined }, "'price' is required"],
    [{ price: '9.50' }, "'price' is not valid"],
    [{ price: 1e200 }, "'price' is not valid"],
    [{ price: -1.01e12 }, "'price' is not valid"],
    [{ quantity: 101 }, "'quantity' is not valid"],
    [{ quantity: 1.5 }, "'quantity' is not valid"],
    [{ quantity: '2' }, "'quantity' is not valid"],
    [{ properties: { price: 1 } }, "Invalid 'properties' field"],
    [{ properties: { quantity: 1 } }, "Invalid 'properties' field"],
  ])('rejects a purchase with %j', async (change, code) => {
    const answer = await api().track({ purchases: [purchase(change)] });
    expect(answer.status).toBe(400);
    expect(getErrors(answer)).toEqual([`purchases[0] ${code}`]);
  });

  test('reports every error of an object', async () => {
    const answer = await api().track({ events: [{ external_id: 'u-1', properties: 3 }] });
    expect(getErrors(answer)).toEqual([
      "events[0] 'name' is required",
      "events[0] 'time' is required",
      "events[0] Invalid 'properties' field",
    ]);
  });

  test.each([
    ['2026-02-28T10:00:00.000Z'],
    ['2026-02-28T11:00:00+01:00'],
    ['2026-02-28T05:00:00-0500'],
    ['2026-02-28 10:00:00Z'],
    ['2026-02-28 05:00:00 -0500'],
    ['2026-02-28T10:00Z'],
    ['2026-02-28T10:00:00:000Z'],
    ['2026-02-28T10:00:00.123456789Z', '2026-02-28T10:00:00.123Z'],
    ['2026-02-28T10:00:00.12 Z', '2026-02-28T10:00:00.120Z'],
  ])(
    'accepts the time %s and stores the instant in milliseconds',
    async (time, instant = '2026-02-28T10:00:00.000Z') => {
      expect(await api().track({ events: [event({ time })] })).toMatchObject({ status: 201 });
      expect(await api().events()).toMatchObject([{ time: instant }]);
      expect(await api().user('u-1')).toMatchObject({ custom_events: [{ first: instant }] });
    },
  );

  test('replaces a time in the future with the current time', async () => {
    await api().track({ events: [event({ time: '2031-01-01T00:00:00Z' })] });
    const now = new Date(NOW).toISOString();
    expect(await api().events()).toMatchObject([{ time: now }]);
    expect(await api().user('u-1')).toMatchObject({ custom_events: [{ first: now, last: now }] });
  });

  test('keeps up to 256 properties as they were sent', async () => {
    const properties = {
      score: 8.5,
      ok: true,
      round: { no: 2, tags: ['a', { b: null }] },
      day: '2026-01-01',
    };
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`k${i}`, i]));
    await api().track({ events: [event({ properties }), event({ name: 'many', properties: many })] });
    const events = await api().events();
    expect(events.find(({ name }) => name === 'quiz')?.['properties']).toEqual(properties);
    const kept = Object.keys(events.find(({ name }) => name === 'many')?.['properties'] as object);
    expect([kept.length, kept.at(-1)]).toEqual([256, 'k255']);
  });

  test.each([
    ['a text that is too long', { last: 'x'.repeat(300) }],
    ['a reserved name', { time: 'x' }],
    ['100 KB more', Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`l${i}`, 'x'.repeat(250)]))],
  ])('ignores %s beyond 256 properties', async (_, more) => {
    const full = Object.fromEntries(Array.from({ length: 256 }, (__, i) => [`k${i}`, i]));
    expect(await api().track({ events: [event({ properties: { ...full, ...more } })] })).toMatchObject({
      status: 201,
    });
    expect((await api().events())[0]?.['properties']).toEqual(full);
  });

  test.each(['VED', 'XAU', 'clf', 'XCG'])('accepts the currency %s', async (currency) => {
    expect(await api().track({ purchases: [purchase({ currency })] })).toMatchObject({ status: 201 });
  });

  test('stores objects in a purchase as text and its currency in capitals, without an unknown app', async () => {
    await api().track({
      purchases: [
        purchase({
          currency: 'eur',
          app_id: 'unknown',
          properties: { size: { cm: 3 }, list: [1, { a: 2 }] },
        }),
        purchase({ product_id: 77, price: -2 }),
      ],
    });
    const purchases = await api().events();
    expect(purchases.find(({ product_id }) => product_id === 'sku')).toMatchObject({
      type: 'purchase',
      currency: 'EUR',
      app_id: null,
      quantity: 1,
      properties: { size: '{"cm":3}', list: [1, '{"a":2}'] },
    });
    expect(purchases.find(({ product_id }) => product_id === '77')).toMatchObject({ price: -2 });
  });

  test('rejects the 20,001st event name of a user, and accepts existing names', async () => {
    const names = Array.from({ length: 20_000 }, (_, i) => `n${i}`);
    await store().write({
      workspaceId: api().workspaceId,
      lookups: [],
      nowMs: NOW,
      apply(users) {
        const done = { first: NOW, last: NOW, count: 1 };
        const events = Object.fromEntries(names.map((name) => [name, { ...done }]));
        users.create({ externalId: 'u-1', events }, NOW);
      },
    });
    const answer = await api().track({
      events: [
        event({ name: 'n5' }),
        event({ name: 'another' }),
        event({ external_id: 'u-2', name: 'another' }),
      ],
      purchases: [purchase({})],
    });
    expect(answer).toMatchObject({ status: 201, body: { events_processed: 2, purchases_processed: 1 } });
    expect(getErrors(answer)).toEqual(['events[1] BLACKLISTED_EXTERNAL_USER_ID']);
    const alone = await api().track({ events: [event({ name: 'another' })] });
    expect(alone.status).toBe(400);
    expect(getErrors(alone)).toEqual(['events[0] BLACKLISTED_EXTERNAL_USER_ID']);
    const stored = (await api().events()).map(({ external_id, name, product_id }) => [
      external_id,
      name ?? product_id,
    ]);
    expect(stored.sort()).toEqual([
      ['u-1', 'n5'],
      ['u-1', 'sku'],
      ['u-2', 'another'],
    ]);
  });

  test('counts events by name, and purchases by quantity', async () => {
    await api().track({
      events: [event({}), event({ time: '2025-01-01T00:00:00Z' }), event({ name: 'other' })],
      purchases: [purchase({ quantity: 3 }), purchase({})],
    });
    await api().track({ events: [event({ time: '2026-02-28T12:00:00Z' })] });
    expect(await api().user('u-1')).toMatchObject({
      custom_events: [
        { name: 'quiz', count: 3, first: '2025-01-01T00:00:00.000Z', last: '2026-02-28T12:00:00.000Z' },
        { name: 'other', count: 1 },
      ],
      purchases: [{ name: 'sku', count: 4 }],
    });
    expect(await api().events()).toHaveLength(6);
  });

  test('never merges two equal events', async () => {
    await api().track({ events: [event({}), event({})] });
    expect(await api().events()).toHaveLength(2);
  });
});

onBothStores(
  'legacy limits: 75 objects in each array',
  (api) => {
    test('accepts 75 of each array and rejects 76 of one', async () => {
      const events = (count: number) =>
        Array.from({ length: count }, () => ({ external_id: 'u', name: 'e', time: TIME }));
      const attributes = Array.from({ length: 75 }, (_, i) => ({ external_id: `u-${i}` }));
      expect(await api().track({ attributes, events: events(75) })).toMatchObject({ status: 201 });
      expect(await api().track({ attributes, events: events(76) })).toMatchObject({ status: 400 });
    });
  },
  { limits: { users_track: { requests: 100, window_seconds: 1, objects: 'per_array' } } },
);

onBothStores('contract 2.3: POST /users/track/bulk', (api) => {
  const bulk = (body: unknown) => api().post('/users/track/bulk', body);
  const objects = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ external_id: `u-${i}`, n: i }));

  test('accepts 1,000 objects and rejects 1,001', async () => {
    expect(await bulk({ attributes: objects(1_001) })).toMatchObject({
      status: 400,
      body: { message: 'Max Input Length Exceeded' },
    });
    expect(await api().users()).toEqual([]);
    expect(await bulk({ attributes: objects(1_000) })).toEqual({
      status: 201,
      body: { message: 'success', attributes_processed: 1_000 },
    });
    expect(await api().users()).toHaveLength(1_000);
  });

  test('rejects more than 100 objects of one user, over all arrays', async () => {
    const events = (count: number) =>
      Array.from({ length: count }, () => ({ external_id: 'u-1', name: 'e', time: TIME }));
    expect(await bulk({ attributes: objects(50), events: events(100) })).toMatchObject({
      status: 400,
      body: { message: 'Max objects per user exceeded' },
    });
    expect(await bulk({ attributes: objects(50), events: events(99) })).toMatchObject({ status: 201 });
    const user_alias = { alias_name: 'n', alias_label: 'l' };
    const aliases = Array.from({ length: 101 }, () => ({ user_alias }));
    expect(await bulk({ attributes: aliases })).toMatchObject({ status: 400 });
  });

  test('counts the objects of a user despite deeply nested identifiers', async () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const many = Array.from({ length: 101 }, () => '{"external_id":"u-1"}').join();
    const answer = await bulk(`{"events":[{"external_id":${deep}}],"attributes":[${many}]}`);
    expect(answer).toMatchObject({ status: 400, body: { message: 'Max objects per user exceeded' } });
  });

  test('does not count rejected objects', async () => {
    const nobody = Array.from({ length: 101 }, () => ({ email: 'n/a' }));
    const timeless = Array.from({ length: 101 }, () => ({ external_id: 'u-1', name: 'e' }));
    const answer = await bulk({ attributes: [...nobody, { external_id: 'u-1' }], events: timeless });
    expect(answer).toMatchObject({ status: 201, body: { attributes_processed: 1, events_processed: 0 } });
    expect(getErrors(answer)).toHaveLength(202);
  });
});
