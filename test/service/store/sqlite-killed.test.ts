// Rows follow all the time here, because the bounds are tiny: whenever the service dies, nothing is lost or counted twice.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openStoreReader } from '../../../src/service/store/index.ts';
import { type BehindBounds, createBehind } from '../../../src/service/store/sqlite/behind.ts';
import fc from '../../helpers/property.ts';
import { byExternalId, collect } from './examples.ts';
import { openKept } from './kept.ts';
import { NOW, perform, plainUsers, seen, step } from './steps.ts';

const folder = mkdtempSync(join(tmpdir(), 'placard-killed-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A service on a file that can be killed: from then on nothing is stored, and all that was in memory is gone. */
const start = (file: string, bounds: Partial<BehindBounds>) => {
  let isDead = false;
  const { database, users } = openKept({
    file,
    behind: createBehind(bounds),
    wrapCommitter: (committer) => ({
      ...committer,
      async commit(group) {
        // The writing takes a while: others come meanwhile.
        await new Promise(setImmediate);
        if (isDead) throw new Error('killed');
        await committer.commit(group);
      },
    }),
  });
  return {
    users,
    async kill(writes: Promise<boolean>[]) {
      isDead = true;
      const fates = await Promise.all(writes);
      database.close();
      return fates;
    },
  };
};

const bounds = fc.record({
  requests: fc.integer({ min: 1, max: 20 }),
  users: fc.integer({ min: 1, max: 8 }),
  characters: fc.integer({ min: 1, max: 2_000 }),
  unsettled: fc.integer({ min: 1, max: 4_000 }),
});
const ends = fc.constantFrom('goes on', 'goes on', 'is killed', 'is closed', 'is killed amid writes');
const rounds = fc.array(fc.record({ steps: fc.array(step, { maxLength: 25 }), end: ends }), {
  maxLength: 12,
});

test('a service that is killed or closed at any moment has exactly what it acknowledged when it starts again', async () => {
  let files = 0;
  await fc.assert(
    fc.asyncProperty(bounds, rounds, async (tiny, all) => {
      files += 1;
      const file = join(folder, `${files}.db`);
      const plain = plainUsers();
      let service = start(file, tiny);
      let index = 0;
      for (const { steps, end } of all) {
        const tried: { write: Promise<boolean>; repeat(): void }[] = [];
        for (const next of steps) {
          if (!('value' in next)) continue;
          index += 1;
          const write = service.users
            .write({
              workspaceId: 'demo',
              lookups: [],
              nowMs: NOW + index,
              apply: (set) => perform(set, next),
            })
            .then(
              () => true,
              () => false,
            );
          tried.push({ write, repeat: () => perform(plain.users, next) });
          // Some share a group, and some have been stored when the next comes.
          if (index % 3 === 0) await new Promise(setImmediate);
        }
        const writes = tried.map(({ write }) => write);
        if (end !== 'is killed amid writes') await Promise.all(writes);
        if (end === 'is closed') await service.users.close();
        const fates = end.startsWith('is killed') ? await service.kill(writes) : await Promise.all(writes);
        for (const [i, { repeat }] of tried.entries()) if (fates[i]) repeat();

        const reader = await openStoreReader(file);
        expect(seen(await collect(reader.exportUsers('demo')))).toEqual(seen(plain.all()));
        await reader.close();
        if (end !== 'goes on') service = start(file, tiny);
        const lookups = plain.all().map(({ externalId }) => byExternalId(externalId!));
        expect(seen(await service.users.read('demo', lookups))).toEqual(seen(plain.all()));
      }
      await service.users.close();
    }),
    { numRuns: Number(process.env['PLACARD_CRASH_ROUNDS'] ?? 40) },
  );
}, 300_000);
