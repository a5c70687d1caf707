import { hostname } from 'node:os';
import { afterEach, expect, test, vi } from 'vitest';
import { createNeighbours } from '../../../src/service/replicas/neighbours.ts';
import { TRACK_FORMAT } from '../../../src/service/replicas/track-text.ts';
import type { Replica } from '../../../src/service/store/store.ts';

afterEach(() => vi.useRealTimers());

const aReplica = (id: string, members: Partial<Replica> = {}): Replica => ({
  id,
  url: 'http://10.0.0.5:8787',
  token: 'secret',
  machine: 'other-machine',
  format: TRACK_FORMAT,
  ...members,
});

const ownersOf = ({ ownerOf }: ReturnType<typeof createNeighbours>) => {
  const owners = new Map(
    Array.from({ length: 200 }, (_, i) => ownerOf('demo', `u-${i}`)).map((o) => [o.id, o]),
  );
  return [...owners.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
};
const idsOf = (neighbours: ReturnType<typeof createNeighbours>) => ownersOf(neighbours).map(({ id }) => id);

test('alone, every user is its own', () => {
  const neighbours = createNeighbours('me');
  neighbours.meet([aReplica('me')]);
  expect(idsOf(neighbours)).toEqual(['me']);
  expect(neighbours.count()).toBe(0);
});

test('users are those of all who are there, and go back when one is not', () => {
  const neighbours = createNeighbours('me');
  neighbours.meet([aReplica('me'), aReplica('you'), aReplica('zoe')]);
  expect(idsOf(neighbours)).toEqual(['me', 'you', 'zoe']);
  const [me, you] = ownersOf(neighbours);
  expect(me?.handOver).toBeNull();
  neighbours.meet([aReplica('me'), aReplica('you')]);
  expect(idsOf(neighbours)).toEqual(['me', 'you']);
  // The connections to those who stay are kept.
  expect(ownersOf(neighbours)[1]).toBe(you);
  neighbours.meet([]);
  expect(idsOf(neighbours)).toEqual(['me']);
});

test('one of another release that writes tracks differently has no users', () => {
  const neighbours = createNeighbours('me');
  neighbours.meet([aReplica('you', { format: TRACK_FORMAT + 1 })]);
  expect(idsOf(neighbours)).toEqual(['me']);
});

test.each(['http://127.0.0.1:8787', 'http://localhost:8787', 'http://[::1]:8787'])(
  'one at %s is reached on the same machine alone',
  (url) => {
    const neighbours = createNeighbours('me');
    neighbours.meet([aReplica('far', { url }), aReplica('near', { url, machine: hostname() })]);
    expect(idsOf(neighbours)).toEqual(['me', 'near']);
  },
);

test('one that could not be reached is left alone for ten seconds', () => {
  vi.useFakeTimers();
  const neighbours = createNeighbours('me');
  const present = [aReplica('me'), aReplica('you')];
  neighbours.meet(present);
  const you = ownersOf(neighbours)[1]!;
  expect(neighbours.avoid(you)).toBe(true);
  expect(neighbours.avoid(you)).toBe(false);
  neighbours.meet(present);
  expect(idsOf(neighbours)).toEqual(['me']);
  vi.advanceTimersByTime(10_001);
  neighbours.meet(present);
  expect(idsOf(neighbours)).toEqual(['me', 'you']);
});
