import { describe, expect, test } from 'vitest';
import { NEWSLETTER, onBothStores } from './on-both-stores.ts';

const TIME = '2026-02-28T10:00:00.000Z';
const alias = { alias_name: 'crm-1', alias_label: 'crm' };

onBothStores('contract 4.2: result of the look-up', (api) => {
  const attributes = (...objects: Record<string, unknown>[]) => api().track({ attributes: objects });
  const events = (...objects: Record<string, unknown>[]) =>
    api().track({ events: objects.map((object) => ({ name: 'e', time: TIME, ...object })) });

  describe.each([
    ['attributes', attributes],
    ['events', events],
  ] as const)('in %s', (_, send) => {
    test.each([
      [{ external_id: 'u-1' }, 1, { external_id: 'u-1' }],
      [{ external_id: 'u-1', _update_existing_only: false }, 1, { external_id: 'u-1' }],
      [{ external_id: 'u-1', _update_existing_only: true }, 0, {}],
      [{ user_alias: alias }, 0, {}],
      [{ user_alias: alias, _update_existing_only: true }, 0, {}],
      [{ user_alias: alias, _update_existing_only: false }, 1, { user_aliases: [alias] }],
      [{ braze_id: 'never-given' }, 1, {}],
      [{ braze_id: 'never-given', _update_existing_only: true }, 0, {}],
      [{ email: 'kim@example.org' }, 1, { email: 'kim@example.org' }],
      [{ email: 'kim@example.org', _update_existing_only: true }, 0, {}],
      [{ phone: '+48123456789' }, 1, { phone: '+48123456789' }],
      [{ phone: '+48123456789', _update_existing_only: true }, 0, {}],
      [
        { email: 'kim@example.org', phone: '+48123456789' },
        1,
        { email: 'kim@example.org', phone: '+48123456789' },
      ],
    ])('%j without a match results in %i profile and no error', async (object, count, members) => {
      const answer = await send(object);
      expect(answer.status).toBe(201);
      expect(answer.body).not.toHaveProperty('errors');
      const users = await api().users();
      expect(users).toHaveLength(count);
      expect(users[0] ?? {}).toMatchObject(members);
      if (count === 0) expect(await api().events()).toEqual([]);
    });

    test.each([[true], [false], [undefined]])(
      'updates a match with _update_existing_only: %s',
      async (_update_existing_only) => {
        await attributes({ user_alias: alias, _update_existing_only: false, email: 'kim@example.org' });
        const [{ braze_id } = {}] = await api().users();
        for (const id of [{ user_alias: alias }, { braze_id }, { email: 'kim@example.org' }]) {
          await send({ ...id, _update_existing_only, phone: '+48123456789' });
        }
        expect(await api().users()).toMatchObject([{ braze_id, phone: '+48123456789' }]);
      },
    );
  });

  test('creates a new ID for a braze_id without a match', async () => {
    await attributes({ braze_id: 'never-given' });
    expect((await api().users())[0]?.['braze_id']).toMatch(/^\d{15,16}$/);
  });

  test('creates a duplicate for an external_id with a known e-mail address, by design', async () => {
    await attributes({ email: 'kim@example.org' });
    await attributes({ external_id: 'u-1', email: 'kim@example.org', tier: 'gold' });
    const users = await api().users();
    expect(users).toHaveLength(2);
    expect(users.find(({ external_id }) => external_id === undefined)).not.toHaveProperty(
      'custom_attributes',
    );
  });

  test('prefers e-mail to phone, even if the phone number belongs to another user', async () => {
    await attributes(
      { external_id: 'a', email: 'a@example.org' },
      { external_id: 'b', phone: '+48123456789' },
    );
    await attributes({ email: 'a@example.org', phone: '+48123456789', tier: 'gold' });
    expect(await api().user('a')).toMatchObject({
      phone: '+48123456789',
      custom_attributes: { tier: 'gold' },
    });
    expect(await api().user('b')).not.toHaveProperty('custom_attributes');
  });

  test('compares e-mail in lower case and phone without separators, and stores both as sent', async () => {
    await attributes({ external_id: 'a', email: 'Kim@Example.org', phone: '+48 (123) 456-789' });
    await attributes({ email: 'kim@EXAMPLE.org', x: 1 }, { phone: '+48123456789', y: 2 });
    expect(await api().users()).toMatchObject([
      { email: 'Kim@Example.org', phone: '+48 (123) 456-789', custom_attributes: { x: 1, y: 2 } },
    ]);
  });

  test('compares alias names exactly', async () => {
    await attributes({ user_alias: alias, _update_existing_only: false });
    await attributes({ user_alias: { ...alias, alias_name: 'CRM-1' }, x: 1 });
    expect((await api().users())[0]).not.toHaveProperty('custom_attributes');
  });

  test('treats null as absent for events and purchases', async () => {
    await attributes({ external_id: 'a', email: 'kim@example.org', phone: '+48123456789' });
    const who = { external_id: 'a', email: null, phone: null, user_alias: null, braze_id: null };
    const time = '2026-03-01T08:00:00Z';
    await api().track({
      events: [{ ...who, name: 'e', time }],
      purchases: [{ ...who, product_id: 'p', currency: 'EUR', price: 1, time }],
    });
    expect(await api().users()).toMatchObject([
      { email: 'kim@example.org', phone: '+48123456789', custom_events: [{ name: 'e' }] },
    ]);
  });

  test('clears the e-mail address by null beside an identifier, and does not find the user by it afterwards', async () => {
    await attributes({ external_id: 'a', email: 'kim@example.org' });
    await attributes({ external_id: 'a', email: null });
    expect(await api().user('a')).not.toHaveProperty('email');
    await attributes({ email: 'kim@example.org' });
    expect(await api().users()).toHaveLength(2);
  });
});

onBothStores('contract 4.3: profiles with a shared address', (api) => {
  const at = (minutes: number) => {
    api().clock.now = Date.parse('2026-03-01T10:00:00Z') + minutes * 60_000;
  };
  const send = (object: Record<string, unknown>) => api().track({ attributes: [object] });

  test.each([
    ['email', 'kim@example.org'],
    ['phone', '+48123456789'],
  ])('by %s: updates only the latest updated among the identified users', async (name, value) => {
    at(0);
    await send({ external_id: 'a', [name]: value });
    at(1);
    await send({ external_id: 'b', [name]: value });
    at(2);
    await send({ user_alias: alias, _update_existing_only: false, [name]: value });
    at(3);
    await send({ external_id: 'a', touched: true });
    at(4);
    await send({ [name]: value, hit: 1 });
    expect(await api().custom('a')).toEqual({ touched: true, hit: 1 });
    expect(await api().custom('b')).toEqual({});
    const others = (await api().users()).filter(({ external_id }) => external_id === undefined);
    expect(others).toHaveLength(1);
    expect(others[0]).not.toHaveProperty('custom_attributes');
  });

  test('updates the latest updated user if none is identified, or else the later created one', async () => {
    at(0);
    const second = { ...alias, alias_name: 'crm-2' };
    await send({ user_alias: alias, _update_existing_only: false, email: 'kim@example.org' });
    await send({ user_alias: second, _update_existing_only: false, email: 'kim@example.org' });
    await send({ email: 'kim@example.org', hit: 1 });
    const getAlias = async () => {
      const users = await api().users();
      return users.filter((user) => (user['custom_attributes'] as { hit?: number } | undefined)?.hit);
    };
    expect(await getAlias()).toMatchObject([{ user_aliases: [second] }]);
    at(1);
    await send({ user_alias: alias, x: 1 });
    at(2);
    await send({ email: 'kim@example.org', hit: 2 });
    expect(await getAlias()).toHaveLength(2);
  });

  const toIdentify = (external_id: string) => ({ aliases_to_identify: [{ external_id, user_alias: alias }] });
  const event = { external_id: 'a', email: 'kim@example.org', name: 'e', time: TIME };
  test.each([
    ['track', { attributes: [{ external_id: 'a', x: 1 }] }, 'a'],
    ['track', { events: [event] }, 'a'],
    ['alias/new', { user_aliases: [{ external_id: 'a', alias_name: 'x', alias_label: 'y' }] }, 'a'],
    ['identify', toIdentify('a'), 'a'],
    ['identify', toIdentify('c'), 'c'],
    [
      'merge',
      {
        merge_updates: [
          { identifier_to_merge: { external_id: 'd' }, identifier_to_keep: { external_id: 'a' } },
        ],
      },
      'a',
    ],
  ])('does not move back the update time of a user on a late /users/%s %j', async (path, late, latest) => {
    at(0);
    await send({ external_id: 'd' });
    at(2);
    await send({ external_id: 'b', email: 'kim@example.org' });
    at(3);
    await send({ external_id: 'a', email: 'kim@example.org' });
    await send({ user_alias: alias, _update_existing_only: false, email: 'kim@example.org' });
    // It arrived first and waited for its body.
    at(1);
    expect((await api().post(`/users/${path}`, late)).status).toBeLessThan(300);
    await send({ email: 'kim@example.org', hit: 1 });
    expect(await api().custom(latest)).toMatchObject({ hit: 1 });
  });

  test('applies a subscription state with external_id and e-mail to every user with that address', async () => {
    await send({ external_id: 'a', email: 'kim@example.org' });
    await send({ external_id: 'b', email: 'KIM@example.org' });
    await send({ external_id: 'c', email: 'lee@example.org' });
    await send({ email: 'solo@example.org' });
    const group = (subscription_state: string) => [{ subscription_group_id: NEWSLETTER, subscription_state }];
    await send({
      external_id: 'a',
      email: 'kim@example.org',
      subscription_groups: group('subscribed'),
      email_subscribe: 'opted_in',
      tier: 'gold',
    });
    const subscribed = { subscription_groups: group('subscribed'), email_subscribe: 'opted_in' };
    expect(await api().user('a')).toMatchObject(subscribed);
    expect(await api().user('b')).toMatchObject(subscribed);
    expect(await api().user('b')).not.toHaveProperty('custom_attributes');
    expect(await api().user('c')).not.toHaveProperty('subscription_groups');
    // Without the email, or only by email, it applies to one profile.
    await send({ external_id: 'a', subscription_groups: group('unsubscribed') });
    expect(await api().user('b')).toMatchObject(subscribed);
  });
});
