import { expect, test } from 'vitest';
import { collectLookups, createUserIds, type Lookup } from '../../../src/service/profiles/lookup.ts';
import { createUserGenerations } from '../../../src/service/profiles/user-generations.ts';
import type { UserRepository } from '../../../src/service/profiles/user-repository.ts';

const W = 'demo';
const NOW = Date.UTC(2026, 2, 1);
const named = (value: string): Lookup => ({ by: 'external_id', value });

test('does not find a user by an external ID that the user has only in the old generation', () => {
  const cache = createUserGenerations(createUserIds(), 0);
  const lookups = ['kim', 'lee'].map(named);
  const change = (apply: (users: UserRepository) => void) =>
    cache.change(collectLookups([{ workspaceId: W, lookups }]).values(), (getUsers) => apply(getUsers(W)));
  change((users) => {
    for (const externalId of ['kim', 'lee']) users.create({ externalId }, NOW);
  });
  cache.rotate();
  for (const lookup of lookups) expect(cache.isCached(W, lookup)).toBe(true);
  change((users) => {
    const [kim, lee] = lookups.map((lookup) => users.find(lookup)[0]!);
    users.merge(lee!, kim!, NOW);
  });
  expect(cache.isCached(W, named('lee'))).toBe(true);
  // Another replica may have created a user with this external ID.
  expect(cache.isCached(W, named('kim'))).toBe(false);
});
