// Acknowledged writes survive a crash at any time, each stored once.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openStoreReader } from '../../../src/service/store/index.ts';
import fc, { times } from '../../helpers/property.ts';
import { anSqliteQueue } from './an-sqlite-queue.ts';
import { perform, plainUsers, seenIn, step } from './steps.ts';

const folder = mkdtempSync(join(tmpdir(), 'placard-killed-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ends = fc.constantFrom('goes on', 'goes on', 'is killed', 'is closed', 'is killed amid writes');
const rounds = fc.array(fc.record({ steps: fc.array(step, { maxLength: 25 }), end: ends }), {
  maxLength: 12,
});

test(
  'has exactly the acknowledged writes after a kill or a close at any time',
  async () => {
    let files = 0;
    await fc.assert(
      // With a small limit, the cache evicts users constantly.
      fc.asyncProperty(rounds, fc.constantFrom(1e6, 2_000), async (all, maxCharacters) => {
        files += 1;
        const file = join(folder, `${files}.db`);
        const plain = plainUsers();
        let service = anSqliteQueue({ file, maxCharacters });
        for (const { steps, end } of all) {
          const tried: Promise<boolean>[] = [];
          for (const [index, each] of steps.entries()) {
            const { write } = service;
            tried.push(
              write(each).then(
                () => true,
                () => false,
              ),
            );
            // Some mutations share a group; others are stored before the next arrives.
            if (index % 3 === 0) await new Promise(setImmediate);
          }
          if (end !== 'is killed amid writes') await Promise.all(tried);
          if (end === 'is closed') await service.queue.close();
          // From here nothing is stored, and everything in memory is lost.
          if (end.startsWith('is killed')) service.disk.problem = 'killed';
          for (const [i, stored] of tried.entries()) if (await stored) perform(plain.users, steps[i]!);
          if (end !== 'goes on') {
            service.database.close();
            service = anSqliteQueue({ file, maxCharacters });
          }
          const reader = await openStoreReader(file);
          expect(await seenIn(reader)).toEqual(plain.seen());
          await reader.close();
        }
        service.database.close();
      }),
      { numRuns: times(20) },
    );
  },
  times(300_000),
);
