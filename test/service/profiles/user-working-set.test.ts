import { expect, test } from 'vitest';
import { createUserIds, type Lookup } from '../../../src/service/profiles/lookup.ts';
import { createUserWorkingSet } from '../../../src/service/profiles/user-working-set.ts';
import { anEvent } from '../store/examples.ts';

const NOW = Date.UTC(2026, 2, 1);

const aGroup = () => {
  const memory = createUserWorkingSet(createUserIds());
  const { value: users } = memory.change({ users: [] }, (getUsers) => getUsers('demo'));
  const ids = (lookup: Lookup) => users.find(lookup).map(({ externalId }) => externalId);
  return { memory, users, ids };
};

const kimsEmail: Lookup = { by: 'email', value: 'kim@example.org' };

test('finds a user by current names only', () => {
  const { users, ids } = aGroup();
  const kim = users.create({ externalId: 'kim', email: 'kim@example.org', phone: '+48123456789' }, NOW);
  kim.externalId = 'kim-2';
  kim.email = 'new@example.org';
  kim.aliases = [{ alias_name: 'k', alias_label: 'crm' }];
  kim.pushTokens = [{ app_id: 'app', token: 'token', device_id: 'device' }];
  users.changed(kim, NOW);
  const now: Lookup[] = [
    { by: 'external_id', value: 'kim-2' },
    { by: 'email', value: 'NEW@example.org' },
    { by: 'phone', value: '+48 123 456 789' },
    { by: 'user_alias', value: { alias_name: 'k', alias_label: 'crm' } },
    { by: 'push_token', value: { app_id: 'app', token: 'token' } },
    { by: 'device_id', value: 'device' },
    { by: 'braze_id', value: String(kim.userId) },
  ];
  for (const lookup of now) expect(ids(lookup), lookup.by).toEqual(['kim-2']);
  for (const lookup of [kimsEmail, { by: 'external_id', value: 'kim' } as const]) {
    expect(ids(lookup), lookup.by).toEqual([]);
  }
});

test('finds a user by ID in memory in the same form as in the database', () => {
  const { users, ids } = aGroup();
  const { userId } = users.create({ externalId: 'kim' }, NOW);
  const others = [`0${userId}`, `${userId}.0`, ` ${userId}`, `+${userId}`, `0x${userId.toString(16)}`];
  for (const value of others) expect(ids({ by: 'braze_id', value }), value).toEqual([]);
  expect(ids({ by: 'braze_id', value: `${userId}` })).toEqual(['kim']);
});

test('finds users of a shared address until they change it or are removed', () => {
  const { users, ids } = aGroup();
  const [kim, sam, mia] = ['kim', 'sam', 'mia'].map((externalId) =>
    users.create({ externalId, email: 'kim@example.org' }, NOW),
  );
  expect(ids(kimsEmail)).toEqual(['kim', 'sam', 'mia']);
  sam!.email = null;
  users.changed(sam!, NOW);
  expect(ids(kimsEmail)).toEqual(['kim', 'mia']);
  users.erase(mia!);
  expect(ids(kimsEmail)).toEqual(['kim']);
  users.merge(sam!, kim!, NOW);
  expect(ids(kimsEmail)).toEqual([]);
  expect(ids({ by: 'braze_id', value: String(kim!.userId) })).toEqual([]);
});

test('finds two users by their new external IDs after they exchange them in one group', () => {
  const { users } = aGroup();
  const [kim, sam] = ['kim', 'sam'].map((externalId) => users.create({ externalId }, NOW));
  [kim!.externalId, sam!.externalId] = ['sam', 'kim'];
  users.changed(kim!, NOW);
  users.changed(sam!, NOW);
  expect(users.find({ by: 'external_id', value: 'sam' })).toEqual([kim]);
  expect(users.find({ by: 'external_id', value: 'kim' })).toEqual([sam]);
});

test('merges a user only into another, existing user', () => {
  const { users } = aGroup();
  const [kim, sam, gone] = ['kim', 'sam', 'gone'].map((externalId) => users.create({ externalId }, NOW));
  const refused = 'The merge target is deleted or is the merged user';
  expect(() => users.merge(kim!, kim!, NOW)).toThrow(refused);
  users.erase(gone!);
  expect(() => users.merge(gone!, kim!, NOW)).toThrow(refused);
  users.merge(kim!, sam!, NOW);
  expect(() => users.merge(sam!, kim!, NOW)).toThrow(refused);
});

test('assigns the rows of users in a chain of merges to the last target', () => {
  const { memory, users } = aGroup();
  const [a, b, c] = ['a', 'b', 'c'].map((externalId) => users.create({ externalId }, NOW));
  users.record(a!, anEvent(a!, 'e'));
  users.merge(b!, a!, NOW);
  users.merge(c!, b!, NOW);
  const { events, merged } = memory.change({ users: [] }, () => null).changes;
  expect(events.map(({ userId }) => userId)).toEqual([c!.userId]);
  // None of them had been stored.
  expect(merged).toEqual([]);
});
