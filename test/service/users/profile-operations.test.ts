import { describe, expect, test } from 'vitest';
import { APP_ID, getErrors, NOW, onBothStores } from './on-both-stores.ts';

const TIME = '2026-02-28T10:00:00.000Z';
const alias = (alias_name: string, alias_label = 'crm') => ({ alias_name, alias_label });

onBothStores('contract 2.7: POST /users/alias/new', (api) => {
  const add = (...user_aliases: unknown[]) => api().post('/users/alias/new', { user_aliases });

  test('creates an alias-only user, once', async () => {
    expect(await add(alias('a'))).toEqual({
      status: 201,
      body: { aliases_processed: 1, message: 'success' },
    });
    await add({ user_alias: alias('a') });
    expect(await api().users()).toMatchObject([{ user_aliases: [alias('a')] }]);
  });

  test('adds one alias per label to a known user, and ignores an unknown external_id', async () => {
    await api().track({ attributes: [{ external_id: 'u-1' }] });
    await add({ external_id: 'u-1', ...alias('a') }, { external_id: 'u-1', ...alias('b') });
    await add({ external_id: 'u-1', ...alias('c', 'shop') }, { external_id: 'nobody', ...alias('d') });
    expect(await api().users()).toMatchObject([
      { external_id: 'u-1', user_aliases: [alias('a'), alias('c', 'shop')] },
    ]);
  });

  test.each([
    [{}, "'alias_name' is required"],
    [{ alias_name: 'a' }, "'alias_label' is required"],
    [{ alias_name: 'a'.repeat(237), alias_label: 'l' }, "'alias_name' is not valid"],
    [{ alias_name: 3, alias_label: 'l' }, "'alias_name' is not valid"],
  ])('rejects %j', async (entry, message) => {
    expect(await add(alias('fine'), entry)).toEqual({
      status: 400,
      body: { message, errors: [{ type: message, input_array: 'user_aliases', index: 1 }] },
    });
    expect(await api().users()).toEqual([]);
  });

  test('rejects 51 entries, and values that are not an array', async () => {
    expect(await add(...Array.from({ length: 51 }, (_, i) => alias(`${i}`)))).toMatchObject({ status: 400 });
    expect(await api().post('/users/alias/new', { user_aliases: 'x' })).toMatchObject({ status: 400 });
    expect(await api().post('/users/alias/new', [])).toMatchObject({ status: 400 });
  });
});

onBothStores('contract 2.7: POST /users/identify', (api) => {
  const identify = (body: unknown) => api().post('/users/identify', body);
  const byAlias = (external_id: string, name = 'a') => ({
    aliases_to_identify: [{ external_id, user_alias: alias(name) }],
  });
  const anonymous = (members: Record<string, unknown> = {}) =>
    api().track({
      attributes: [{ user_alias: alias('a'), _update_existing_only: false, ...members }],
      events: [{ user_alias: alias('a'), name: 'browsed', time: TIME }],
    });

  test('sets the external ID of an alias-only user, and keeps its data', async () => {
    await anonymous({ tier: 'gold' });
    expect(await identify(byAlias('u-1'))).toEqual({
      status: 201,
      body: { aliases_processed: 1, message: 'success' },
    });
    expect(await api().users()).toMatchObject([
      {
        external_id: 'u-1',
        user_aliases: [alias('a')],
        custom_attributes: { tier: 'gold' },
        custom_events: [{ name: 'browsed', count: 1 }],
      },
    ]);
  });

  test('merges into a known user by filling missing values and adding up events', async () => {
    await api().track({ attributes: [{ external_id: 'u-1', tier: 'silver', first_name: 'Kim' }] });
    await anonymous({ tier: 'gold', size: 3, first_name: 'Ann', last_name: 'Lee', email: 'kim@example.org' });
    await identify(byAlias('u-1'));
    const users = await api().users();
    expect(users).toHaveLength(1);
    expect(users[0]).toMatchObject({
      external_id: 'u-1',
      email: 'kim@example.org',
      first_name: 'Kim',
      last_name: 'Lee',
      user_aliases: [alias('a')],
      custom_attributes: { tier: 'silver', size: 3 },
    });
    expect(users[0]).toMatchObject({ custom_events: [{ name: 'browsed', count: 1 }] });
    expect(await api().events()).toMatchObject([{ external_id: 'u-1', name: 'browsed' }]);
  });

  test('does not change users if both have an alias with the same label', async () => {
    await api().track({ attributes: [{ external_id: 'u-1' }] });
    await api().post('/users/alias/new', { user_aliases: [{ external_id: 'u-1', ...alias('other') }] });
    await anonymous();
    expect(await identify(byAlias('u-1'))).toMatchObject({ status: 201 });
    expect(await api().users()).toHaveLength(2);
  });

  test('succeeds without a match, or if the match already has an external ID', async () => {
    expect(await identify(byAlias('u-1', 'nobody'))).toMatchObject({
      status: 201,
      body: { aliases_processed: 1 },
    });
    await anonymous();
    await identify(byAlias('u-1'));
    await identify(byAlias('u-2'));
    expect(await api().users()).toMatchObject([{ external_id: 'u-1' }]);
  });

  test('finds users by e-mail and phone with its rules, and skips several matches', async () => {
    const two = [
      {
        user_alias: alias('a'),
        _update_existing_only: false,
        email: 'kim@example.org',
        phone: '+48123456789',
      },
      { user_alias: alias('b'), _update_existing_only: false, email: 'kim@example.org' },
    ];
    await api().track({ attributes: two });
    const byEmail = (prioritization: string[]) =>
      identify({ emails_to_identify: [{ external_id: 'u-1', email: 'KIM@example.org', prioritization }] });
    expect(await byEmail(['unidentified'])).toEqual({
      status: 201,
      body: { emails_processed: 1, message: 'success' },
    });
    expect(await api().user('u-1')).toBeUndefined();
    await byEmail(['unidentified', 'most_recently_updated']);
    expect(await api().user('u-1')).toMatchObject({ user_aliases: [alias('b')] });
    expect(
      await identify({
        phone_numbers_to_identify: [
          { external_id: 'u-2', phone: '+48 123 456 789', prioritization: ['unidentified'] },
        ],
      }),
    ).toEqual({ status: 201, body: { phone_numbers_processed: 1, message: 'success' } });
    expect(await api().user('u-2')).toMatchObject({ user_aliases: [alias('a')] });
  });

  test.each([
    [{}],
    [{ aliases_to_identify: [] }],
    [{ aliases_to_identify: [{ user_alias: alias('a') }] }],
    [{ aliases_to_identify: [{ external_id: 'u-1' }] }],
    [{ emails_to_identify: [{ external_id: 'u-1', email: 'kim@example.org' }] }],
    [{ emails_to_identify: [{ external_id: 'u-1', email: 'kim@example.org', prioritization: ['newest'] }] }],
    [
      {
        emails_to_identify: [
          { external_id: 'u-1', email: 'kim@example.org', prioritization: ['identified', 'unidentified'] },
        ],
      },
    ],
    [
      {
        aliases_to_identify: Array.from({ length: 51 }, () => ({ external_id: 'u', user_alias: alias('a') })),
      },
    ],
  ])('rejects %j', async (body) => {
    expect(await identify(body)).toMatchObject({ status: 400, body: { errors: [{}] } });
  });
});

onBothStores('contract 2.7: POST /users/merge', (api) => {
  const merge = (...merge_updates: unknown[]) => api().post('/users/merge', { merge_updates });
  const event = (external_id: string, time: string) => ({ external_id, name: 'e', time });

  test('fills missing values of the merge target, adds up events, and deletes the other user', async () => {
    await api().track({
      attributes: [
        { external_id: 'old', tier: 'gold', size: 1, email: 'old@example.org', first_name: 'Ann' },
        { external_id: 'new', tier: 'silver', first_name: 'Kim' },
      ],
      events: [
        event('old', '2026-01-01T00:00:00Z'),
        event('old', '2026-01-05T00:00:00Z'),
        event('new', '2026-01-03T00:00:00Z'),
      ],
      purchases: [
        { external_id: 'old', product_id: 'p', currency: 'EUR', price: 2, quantity: 2, time: TIME },
      ],
    });
    const answer = await merge({
      identifier_to_merge: { external_id: 'old' },
      identifier_to_keep: { external_id: 'new' },
    });
    expect(answer).toEqual({ status: 202, body: { message: 'success' } });
    expect(await api().users()).toMatchObject([
      {
        external_id: 'new',
        email: 'old@example.org',
        first_name: 'Kim',
        custom_attributes: { tier: 'silver', size: 1 },
        custom_events: [
          { name: 'e', count: 3, first: '2026-01-01T00:00:00.000Z', last: '2026-01-05T00:00:00.000Z' },
        ],
        purchases: [{ name: 'p', count: 2 }],
      },
    ]);
    await api().track({ attributes: [{ external_id: 'old', x: 1 }] });
    expect(await api().users()).toHaveLength(2);
  });

  test('sets the creation time of the merge target to the earlier of the two', async () => {
    const first = { external_id: 'first' };
    const second = { external_id: 'second' };
    const created = async () => (await api().users()).map(({ created_at }) => created_at);
    await api().track({ attributes: [first] });
    const [oldest] = await created();
    api().clock.now += 60_000;
    await api().track({ attributes: [second] });
    await merge({ identifier_to_merge: first, identifier_to_keep: second });
    expect(await created()).toEqual([oldest]);
    api().clock.now += 60_000;
    await api().track({ attributes: [first] });
    await merge({ identifier_to_merge: first, identifier_to_keep: second });
    expect(await created()).toEqual([oldest]);
  });

  test('keeps each push token once, and one per device', async () => {
    const token = (text: string, device_id: string) => ({ app_id: APP_ID, token: text, device_id });
    await api().track({
      attributes: [
        { external_id: 'a', push_tokens: [token('t-1', 'device-01')] },
        {
          external_id: 'b',
          push_tokens: [token('t-1', 'device-02'), token('t-2', 'device-01'), token('t-3', 'device-03')],
        },
      ],
    });
    await merge({ identifier_to_merge: { external_id: 'b' }, identifier_to_keep: { external_id: 'a' } });
    expect(await api().users()).toMatchObject([
      { push_tokens: [token('t-1', 'device-01'), token('t-3', 'device-03')] },
    ]);
  });

  test('keeps all values if both users exceed a limit together, but does not accept more', async () => {
    const attributes = (prefix: string) =>
      Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [`${prefix}${i}`, 0]));
    const tokens = (prefix: string) =>
      Array.from({ length: 600 }, (_, i) => ({
        app_id: APP_ID,
        token: `${prefix}${i}`,
        device_id: `device-${prefix}${i}`,
      }));
    const user = (external_id: string) => ({
      external_id,
      ...attributes(external_id),
      push_tokens: tokens(external_id),
    });
    await api().track({ attributes: [user('a'), user('b')] });
    await merge({ identifier_to_merge: { external_id: 'b' }, identifier_to_keep: { external_id: 'a' } });
    const answer = await api().track({
      attributes: [{ external_id: 'a', b7: 7, one_more: 1, push_tokens: tokens('c') }],
    });
    expect(getErrors(answer)).toEqual([
      "attributes[0] 'one_more' is not set: a user may have 2,000 custom attributes",
      "attributes[0] 'push_tokens' are not added: a user may have 1,000",
    ]);
    const [kept] = await api().users();
    expect(kept).toMatchObject({
      custom_attributes: { ...attributes('a'), ...attributes('b'), b7: 7 },
      push_tokens: [...tokens('a'), ...tokens('b')],
    });
  });

  test('keeps the external ID of either user', async () => {
    await api().track({
      attributes: [
        { email: 'kim@example.org', tier: 1 },
        { external_id: 'known', size: 3 },
      ],
    });
    await merge({
      identifier_to_merge: { external_id: 'known' },
      identifier_to_keep: { email: 'kim@example.org', prioritization: ['unidentified'] },
    });
    await api().track({ attributes: [{ external_id: 'known', x: 1 }] });
    expect(await api().users()).toMatchObject([
      { external_id: 'known', email: 'kim@example.org', custom_attributes: { tier: 1, size: 3, x: 1 } },
    ]);
  });

  test('uses the earlier first session and the later last session', async () => {
    await api().track({
      attributes: [
        { external_id: 'old', date_of_first_session: '2020-01-01', date_of_last_session: '2026-02-02' },
        { external_id: 'new', date_of_first_session: '2024-01-01', date_of_last_session: '2025-01-01' },
        { external_id: 'third', date_of_first_session: '2021-01-01', date_of_last_session: '2022-01-01' },
      ],
    });
    for (const external_id of ['old', 'third']) {
      await merge({ identifier_to_merge: { external_id }, identifier_to_keep: { external_id: 'new' } });
    }
    expect(await api().users()).toMatchObject([
      { external_id: 'new', date_of_first_session: '2020-01-01', date_of_last_session: '2026-02-02' },
    ]);
  });

  test('does not change users if one is not found, or if both are the same', async () => {
    await api().track({ attributes: [{ external_id: 'a', email: 'a@example.org' }] });
    await merge(
      { identifier_to_merge: { external_id: 'a' }, identifier_to_keep: { external_id: 'nobody' } },
      {
        identifier_to_merge: { email: 'a@example.org', prioritization: ['identified'] },
        identifier_to_keep: { external_id: 'a' },
      },
    );
    expect(await api().users()).toHaveLength(1);
  });

  const NOT_IDENTIFIERS =
    "identifiers must be objects with an 'external_id' property that is a string, 'user_alias' property that is an object, 'email' property that is a string, or 'phone' property that is a string";
  test.each([
    [{ merge_updates: 'x' }, "'merge_updates' must be an array of objects"],
    [{ merge_updates: [1] }, "'merge_updates' must be an array of objects"],
    [{}, "'merge_updates' must be an array of objects"],
    [
      { merge_updates: Array.from({ length: 51 }, () => ({})) },
      'a single request may not contain more than 50 merge updates',
    ],
    [
      { merge_updates: [{ identifier_to_merge: { external_id: 'a' } }] },
      "'merge_updates' must only have 'identifier_to_merge' and 'identifier_to_keep'",
    ],
    [
      { merge_updates: [{ identifier_to_merge: 'a', identifier_to_keep: { external_id: 'b' } }] },
      NOT_IDENTIFIERS,
    ],
    [
      { merge_updates: [{ identifier_to_merge: {}, identifier_to_keep: { external_id: 'b' } }] },
      NOT_IDENTIFIERS,
    ],
  ])('rejects %j', async (body, message) => {
    expect(await api().post('/users/merge', body)).toMatchObject({ status: 400, body: { message } });
  });
});

onBothStores('contract 2.7: POST /users/export/ids', (api) => {
  const exported = (body: unknown) => api().post('/users/export/ids', body);

  test.each([
    { external_ids: ['a\u0000'] },
    { braze_id: 'a\u0000' },
    { device_id: 'a\u0000' },
    { email_address: 'a\u0000@example.org' },
    { phone: '+48\u0000' },
  ])('rejects %j, which PostgreSQL cannot search for', async (body) => {
    expect(await exported(body)).toMatchObject({ status: 400 });
  });

  const DAY_MS = 86_400_000;

  test('returns each user once, by any identifier, and lists unknown IDs', async () => {
    await api().track({
      attributes: [
        { external_id: 'u-1', email: 'kim@example.org', phone: '+48123456789', tier: 'gold' },
        { user_alias: alias('a'), _update_existing_only: false },
      ],
    });
    const answer = await exported({
      external_ids: ['u-1', 'nobody', 'nobody'],
      user_aliases: [alias('a'), alias('b')],
    });
    expect(answer).toMatchObject({ status: 201, body: { message: 'success', invalid_user_ids: ['nobody'] } });
    expect(answer.body['users']).toHaveLength(2);
    const [user] = (await exported({ email_address: 'KIM@example.org' })).body['users'] as Record<
      string,
      unknown
    >[];
    expect(user).toMatchObject({ external_id: 'u-1', custom_attributes: { tier: 'gold' } });
    expect((await exported({ phone: '+48-123-456-789' })).body['users']).toEqual([user]);
    expect((await exported({ braze_id: user!['braze_id'] })).body['users']).toEqual([user]);
    expect(await exported({ external_ids: ['u-2'] })).toMatchObject({ status: 201, body: { users: [] } });
  });

  test('omits fields that were not requested, and events older than 90 days', async () => {
    const at = (days: number) => new Date(NOW - days * DAY_MS).toISOString();
    await api().track({
      attributes: [
        { external_id: 'u-1', current_location: { longitude: 1, latitude: 2 }, first_name: 'Kim' },
      ],
      events: [
        { external_id: 'u-1', name: 'recent', time: at(89) },
        { external_id: 'u-1', name: 'old', time: at(91) },
      ],
    });
    const fields_to_export = ['last_coordinates', 'custom_events', 'purchases'];
    expect((await exported({ external_ids: ['u-1'], fields_to_export })).body['users']).toEqual([
      {
        last_coordinates: [1, 2],
        custom_events: [{ name: 'recent', count: 1, first: at(89), last: at(89) }],
      },
    ]);
  });

  describe('rejects', () => {
    test.each([
      [{}],
      [[]],
      [{ external_ids: 'u-1' }],
      [{ external_ids: Array.from({ length: 51 }, (_, i) => `u-${i}`) }],
      [{ email_address: 'kim@example.org', phone: '+48123456789' }],
      [{ braze_id: 7 }],
      [{ external_ids: [2 ** 53] }],
      [{ user_aliases: [{ alias_name: 'a' }] }],
      [{ external_ids: ['u-1'], fields_to_export: 'email' }],
    ])('%j', async (body) => {
      expect(await exported(body)).toMatchObject({ status: 400 });
    });
  });
});
