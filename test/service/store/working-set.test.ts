import { describe, expect, test } from 'vitest';
import { completeProfile } from '../../../src/service/profiles/profile-text.ts';
import type { UserSet } from '../../../src/service/profiles/user-set.ts';
import { createWorkingSet } from '../../../src/service/store/working-set.ts';

/** A set over a store that has every user but `nobody`, and what it asked of the store. */
const aSet = (capacity?: number) => {
  const asked: string[] = [];
  const set = createWorkingSet({
    newId: () => 'new',
    load: (workspaceId, { value }) => {
      asked.push(`${workspaceId} ${value}`);
      if (value === 'nobody') return [];
      return [
        completeProfile({
          brazeId: `id of ${value}`,
          externalId: String(value),
          createdAtMs: 1,
          updatedAtMs: 1,
        }),
      ];
    },
    ...(capacity !== undefined && { capacity }),
  });
  return { set, asked };
};

describe('a profile recalled between works', () => {
  test('is read from the store once', () => {
    const { set, asked } = aSet();
    expect(set.recall('demo', 'u-1')?.brazeId).toBe('id of u-1');
    expect(set.recall('demo', 'u-1')?.brazeId).toBe('id of u-1');
    expect(set.recall('demo', 'nobody')).toBeUndefined();
    expect(asked).toEqual(['demo u-1', 'demo nobody']);
  });

  test('is the one that works change', () => {
    const { set, asked } = aSet();
    const work = (apply: (users: UserSet) => void) => {
      apply(set.users('demo'));
      set.take();
    };
    set.recall('demo', 'u-1');
    work((users) => {
      const [profile] = users.find({ by: 'external_id', value: 'u-1' });
      profile!.custom['tier'] = 'gold';
      users.changed(profile!);
    });
    expect(set.recall('demo', 'u-1')?.custom).toEqual({ tier: 'gold' });
    work((users) => users.remove(users.find({ by: 'external_id', value: 'u-1' })[0]!));
    expect(set.recall('demo', 'u-1')).toBeUndefined();
    expect(new Set(asked)).toEqual(new Set(['demo u-1']));
  });

  test('goes when nobody has asked for it while others filled the memory, though no work is ever done', () => {
    const { set, asked } = aSet(2);
    for (const user of ['often', 'a', 'often', 'b', 'often', 'c', 'often', 'd', 'often', 'e', 'often', 'a']) {
      set.recall('demo', user);
    }
    expect(asked.filter((name) => name === 'demo often')).toHaveLength(1);
    expect(asked.filter((name) => name === 'demo a')).toHaveLength(2);
  });

  test('goes the sooner the larger the others are, of which each one counts', () => {
    const large = 8_192;
    const stays = (weigh: (set: ReturnType<typeof aSet>['set']) => void) => {
      const { set, asked } = aSet(6);
      for (const user of ['first', 'a', 'b']) set.recall('demo', user);
      weigh(set);
      for (const user of ['c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'first']) set.recall('demo', user);
      return asked.filter((name) => name === 'demo first').length === 1;
    };
    expect(stays(() => undefined)).toBe(true);
    expect(stays((set) => set.weigh(100, 3))).toBe(true);
    expect(stays((set) => set.weigh(large, 3))).toBe(false);
  });
});

test('profiles that were only looked at go as well while others fill the memory, though no work is ever done', () => {
  const { set, asked } = aSet(2);
  const look = (...users: string[]) =>
    set.look(
      'demo',
      users.map((value) => ({ by: 'external_id', value })),
    );
  expect([...look('often', 'a', 'nobody', 'a')].map(({ brazeId }) => brazeId)).toEqual([
    'id of often',
    'id of a',
  ]);
  for (const user of ['b', 'often', 'c', 'often', 'd', 'often', 'e', 'often', 'a']) look(user);
  expect(asked.filter((name) => name === 'demo often')).toHaveLength(1);
  expect(asked.filter((name) => name === 'demo a')).toHaveLength(2);
});

describe('users who share an address', () => {
  const byEmail = { by: 'email', value: 'all@example.org' } as const;
  /** A store in which these have the address, and a set over it. */
  const aStore = (names: string[], capacity?: number) => {
    const stored = new Map(
      names.map((name) => [
        name,
        completeProfile({
          brazeId: `id of ${name}`,
          externalId: name,
          email: 'all@example.org',
          createdAtMs: 1,
          updatedAtMs: 1,
        }),
      ]),
    );
    let asked = 0;
    const set = createWorkingSet({
      newId: () => 'new',
      load: (_, { by, value }) => {
        asked += 1;
        const found = by === 'external_id' ? [stored.get(String(value))] : [...stored.values()];
        return found.filter((profile) => profile !== undefined).map((profile) => structuredClone(profile));
      },
      ...(capacity !== undefined && { capacity }),
    });
    const work = <T>(apply: (users: UserSet) => T): T => {
      const result = apply(set.users('demo'));
      set.take();
      return result;
    };
    const named = () => work((users) => users.find(byEmail).map(({ externalId }) => externalId)).toSorted();
    return { work, named, asked: () => asked };
  };

  test('are read from the store once, and whoever comes or goes meanwhile is known', () => {
    const { work, named, asked } = aStore(['a', 'b']);
    expect(named()).toEqual(['a', 'b']);
    work((users) => users.create({ externalId: 'c', email: 'ALL@example.org' }, 1));
    work((users) => users.remove(users.find(byEmail).find(({ externalId }) => externalId === 'a')!));
    expect(named()).toEqual(['b', 'c']);
    expect(asked()).toBe(1);
    const one = (name: string) => work((users) => users.find({ by: 'external_id', value: name })[0]);
    expect(work((users) => users.find(byEmail)).includes(one('b')!)).toBe(true);
  });

  test('are read again once others have filled the memory', () => {
    const { work, named, asked } = aStore(['a', 'b'], 3);
    named();
    for (let i = 0; i < 10; i += 1) work((users) => users.create({ externalId: `other-${i}` }, 1));
    const before = asked();
    expect(named()).toEqual(['a', 'b']);
    expect(asked()).toBe(before + 1);
  });
});

test('one who is removed and not stored yet hides nobody who has got that name since', () => {
  let ids = 0;
  const set = createWorkingSet({
    newId: () => {
      ids += 1;
      return `id-${ids}`;
    },
    capacity: 2,
    isPending: () => true,
  });
  const users = set.users('demo');
  const make = (externalId: string) => {
    const profile = users.create({ externalId }, 1);
    set.take();
    return profile;
  };
  const asked = { by: 'external_id', value: 'u' } as const;
  const first = make('u');
  make('other');
  make('another');
  users.remove(first);
  set.take();
  const second = make('u');
  for (let i = 0; i < 6; i += 1) {
    expect(users.find(asked)).toEqual([second]);
    make(`u-${i}`);
  }
});
