// Random mutations against a reference list of users: every store ends in the same state, in any interleaving.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { openStore, type Store } from '../../../src/service/store/index.ts';
import { aDatabase } from '../../helpers/postgres.ts';
import fc, { times } from '../../helpers/property.ts';
import { getLookups, NOW, perform, plainUsers, type Step, seenIn, step } from './steps.ts';

const folder = mkdtempSync(join(tmpdir(), 'placard-model-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ROUNDS = times(20);

const write = (store: Store, each: Step): Promise<void> =>
  store.write({
    workspaceId: 'demo',
    lookups: getLookups(each),
    nowMs: NOW,
    apply: (users) => perform(users, each),
  });

/** Deletes all users, so that the next round starts empty. */
const empty = (stores: Store[]) =>
  stores[0]!.write({
    workspaceId: 'demo',
    lookups: Array.from({ length: 6 }, (_, user) => getLookups({ do: 'event', user, value: user })).flat(),
    nowMs: NOW,
    apply(users) {
      for (let user = 0; user < 6; user += 1) {
        for (const lookup of getLookups({ do: 'event', user, value: user })) {
          if (lookup.by === 'external_id' && users.find(lookup).length === 0) {
            users.create({ externalId: lookup.value }, NOW);
          }
          for (const profile of users.find(lookup)) users.erase(profile);
        }
      }
    },
  });

test.each<[string, () => Promise<Store[]>]>([
  ['SQLite', async () => [await openStore(join(folder, 'model.db'))]],
  [
    'PostgreSQL, with two replicas that take turns',
    async () => {
      const url = await aDatabase();
      return [await openStore(url), await openStore(url)];
    },
  ],
])(
  `${ROUNDS} random sequences of writes have the same result in a list and in %s`,
  async (_, open) => {
    const stores = await open();
    onTestFinished(async () => {
      for (const store of stores) await store.close();
    });
    await fc.assert(
      fc.asyncProperty(
        // Mutations of one list arrive at once, at one replica, in order.
        fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { maxLength: 12 }),
        async (lists) => {
          const plain = plainUsers();
          for (const [turn, list] of lists.entries()) {
            const store = stores[turn % stores.length]!;
            const fates = await Promise.allSettled(list.map((each) => write(store, each)));
            for (const [i, each] of list.entries()) {
              expect(fates[i]!.status, each.do).toBe(each.do === 'throw' ? 'rejected' : 'fulfilled');
              if (each.do !== 'throw') perform(plain.users, each);
            }
          }
          expect(await seenIn(stores[0]!)).toEqual(plain.seen());
          await empty(stores);
          expect(await seenIn(stores[0]!)).toEqual({ users: [], events: [], bannerEvents: [] });
        },
      ),
      { numRuns: ROUNDS },
    );
  },
  times(300_000),
);
