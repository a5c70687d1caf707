import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Lookup } from '../../../src/service/profiles/lookup.ts';
import type { UserRepository } from '../../../src/service/profiles/user-repository.ts';
import { openStore, type Store } from '../../../src/service/store/index.ts';
import { aDatabase, lockBeside, runBeside, waitsFor } from '../../helpers/postgres.ts';
import { anEvent, byExternalId, collect } from './examples.ts';

const NOW = Date.UTC(2026, 2, 1);
const ALIAS = { alias_name: 'anon-1', alias_label: 'web' };
const byAlias: Lookup = { by: 'user_alias', value: ALIAS };
const byEmail: Lookup = { by: 'email', value: 'kim@example.org' };

let url: string;
let one: Store;
let other: Store;
beforeEach(async () => {
  url = await aDatabase();
  [one, other] = [await openStore(url), await openStore(url)];
  onTestFinished(async () => {
    await Promise.all([one.close(), other.close()]);
  });
});

const write = (store: Store, lookups: Lookup[], apply: (users: UserRepository) => void) =>
  store.write({ workspaceId: 'demo', lookups, nowMs: NOW, apply });

/** Records an event for the user of the lookup. If there is none, creates the user or does nothing. */
const record = (store: Store, lookup: Lookup, create: (users: UserRepository) => void) =>
  write(store, [lookup], (users) => {
    if (users.find(lookup).length === 0) create(users);
    for (const profile of users.find(lookup)) users.record(profile, anEvent(profile, 'e'));
  });

/** The second write looks up its user IDs before the first is stored, and reads their rows afterwards. */
const behindEachOther = async (first: () => Promise<void>, second: () => Promise<void>) => {
  const run = runBeside(url);
  const lockTable = () => lockBeside(url, 'LOCK TABLE users IN ACCESS EXCLUSIVE MODE');
  const waiting = async () => (await run(waitsFor())).length;
  const before = await lockTable();
  const stored = first();
  await expect.poll(waiting).toBe(1);
  const between = lockTable().then(({ release }) => release());
  await expect.poll(waiting).toBe(2);
  const late = second();
  await expect.poll(waiting).toBe(3);
  await before.release();
  await Promise.all([stored, between, late]);
};

/** As `/users/identify` and `/users/merge` do. */
const merge = (store: Store, gone: Lookup, kept: Lookup) =>
  write(store, [gone, kept], (users) => {
    const [from] = users.find(gone);
    const [to] = users.find(kept);
    to!.aliases = [...to!.aliases, ...from!.aliases];
    to!.email ??= from!.email;
    users.merge(to!, from!, NOW);
  });

test('records an event by an alias under its new user if another replica moves the alias', async () => {
  await write(one, [], (users) => {
    users.create({ aliases: [ALIAS] }, NOW);
    users.create({ externalId: 'kim' }, NOW);
  });
  await behindEachOther(
    () => merge(one, byAlias, byExternalId('kim')),
    () => record(other, byAlias, () => undefined),
  );
  const [profile, ...others] = await collect(one.exportUsers('demo'));
  expect(others).toEqual([]);
  expect(profile).toMatchObject({ externalId: 'kim', aliases: [ALIAS], events: { e: { count: 1 } } });
});

test('does not create a second user if another replica moves an address', async () => {
  await write(one, [], (users) => {
    users.create({ externalId: 'gone', email: byEmail.value }, NOW);
    users.create({ externalId: 'kim' }, NOW);
  });
  await behindEachOther(
    () => merge(one, byExternalId('gone'), byExternalId('kim')),
    () => record(other, byEmail, (users) => users.create({ email: byEmail.value }, NOW)),
  );
  const profiles = await collect(one.exportUsers('demo'));
  expect(profiles.map(({ externalId, events }) => [externalId, events['e']?.count])).toEqual([['kim', 1]]);
});

/** Users that the write names besides the moved address. */
test.each<[string, Lookup[]]>([
  ['alone', []],
  ['with the other address of that user', [{ by: 'email', value: 'new@example.org' }]],
  ['with the external ID of that user', [byExternalId('kim')]],
])('looks up a key again that moves between two users, %s', async (_, beside) => {
  await write(one, [], (users) => {
    users.create({ externalId: 'kim', email: byEmail.value }, NOW);
    users.create({ externalId: 'sam' }, NOW);
  });
  const hand = (users: UserRepository) => {
    const [kim] = users.find(byExternalId('kim'));
    const [sam] = users.find(byExternalId('sam'));
    [kim!.email, sam!.email] = ['new@example.org', kim!.email];
    for (const profile of [kim!, sam!]) users.changed(profile, NOW);
  };
  await behindEachOther(
    () => write(one, [byExternalId('kim'), byExternalId('sam')], hand),
    () =>
      write(other, [byEmail, ...beside], (users) => {
        if (users.find(byEmail).length === 0) users.create({ email: byEmail.value }, NOW);
        for (const profile of users.find(byEmail)) users.record(profile, anEvent(profile, 'e'));
      }),
  );
  const profiles = await collect(one.exportUsers('demo'));
  const told = profiles.map(({ externalId, events }) => [externalId, events['e']?.count]);
  expect(told.toSorted()).toEqual([
    ['kim', undefined],
    ['sam', 1],
  ]);
});

test('stores each write by a shared address while its users are merged', async () => {
  const SHARING = 2_000;
  const CHAINS = 3;
  await write(one, [], (users) => {
    for (let n = 0; n < SHARING; n += 1) users.create({ externalId: `u-${n}`, email: byEmail.value }, NOW);
  });
  let isOver = false;
  const chain = async (first: number) => {
    for (let n = first; n + CHAINS < SHARING && !isOver; n += CHAINS) {
      await merge(one, byExternalId(`u-${n}`), byExternalId(`u-${n + CHAINS}`));
    }
  };
  const merging = Promise.all(Array.from({ length: CHAINS }, (_, first) => chain(first)));
  for (let n = 0; n < 15; n += 1) {
    await write(other, [byEmail], (users) => {
      const [profile] = users.find(byEmail);
      users.record(profile!, anEvent(profile!, `e-${n}`));
    });
  }
  isOver = true;
  await merging;
  expect(await collect(one.exportEvents('demo'))).toHaveLength(15);
});
