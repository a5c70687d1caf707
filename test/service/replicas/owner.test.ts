import { expect, test } from 'vitest';
import { createChooser } from '../../../src/service/replicas/owner.ts';
import fc from '../../helpers/property.ts';

const owners = (count: number) => Array.from({ length: count }, (_, i) => ({ id: `replica-${i}` }));
const users = Array.from({ length: 10_000 }, (_, i) => `user-${i}`);
const text = fc.string({ unit: 'binary' });

test('all who know the same owners choose the same one, in whatever order they know them', () => {
  const known = owners(5);
  const forwards = createChooser(known);
  const backwards = createChooser(known.toReversed());
  fc.assert(
    fc.property(text, text, (workspaceId, externalId) => {
      expect(forwards(workspaceId, externalId)).toBe(backwards(workspaceId, externalId));
    }),
  );
});

test.each([2, 3, 8])('of %i owners each has its share of the users', (count) => {
  const known = owners(count);
  const ownerOf = createChooser(known);
  const shares = new Map(known.map((owner) => [owner, 0]));
  for (const user of users) {
    const owner = ownerOf('demo', user);
    shares.set(owner, shares.get(owner)! + 1);
  }
  const fair = users.length / count;
  for (const share of shares.values()) {
    const spread = 4 * Math.sqrt(fair * (1 - 1 / count));
    expect(share).toBeGreaterThan(fair - spread);
    expect(share).toBeLessThan(fair + spread);
  }
});

test('one who goes leaves the users of all others where they are', () => {
  const known = owners(4);
  const [gone, ...rest] = known;
  const before = createChooser(known);
  const after = createChooser(rest);
  for (const user of users) {
    const owner = before('demo', user);
    if (owner !== gone) expect(after('demo', user)).toBe(owner);
  }
});

test('a user of the same name in another workspace is another user', () => {
  const ownerOf = createChooser(owners(2));
  const moved = users.filter((user) => ownerOf('demo', user) !== ownerOf('other', user));
  expect(moved.length).toBeGreaterThan(users.length / 3);
});
