// A disk that fails some commits: a failed commit leaves no trace.
import { expect, test } from 'vitest';
import fc, { times } from '../../helpers/property.ts';
import { anSqliteQueue } from './an-sqlite-queue.ts';
import { perform, plainUsers, type Step, seenIn, step } from './steps.ts';

const attribute = (user: number, value: number): Step => ({ do: 'attribute', user, value });

test('rejects the writes of a failed commit, hides their changes, and does not delay later writes', async () => {
  const { queue, disk, reader, write } = anSqliteQueue();
  await write(attribute(0, 1));
  disk.problem = 'disk full';
  disk.commits = 0;
  const works = [2, 3, 4].map((value) => write(attribute(0, value)));
  const fates = await Promise.allSettled(works);
  expect(fates.map((fate) => fate.status === 'rejected' && fate.reason.message)).toEqual(
    Array(3).fill('disk full'),
  );
  expect(disk.commits).toBe(1);
  disk.problem = null;
  await write(attribute(1, 5));
  const users = (await seenIn(reader)).users.map((user) => JSON.parse(user).custom);
  expect(users).toEqual([{ n: 1 }, { n: 5 }]);
  await queue.close();
});

const moment = fc.record({
  step,
  isFull: fc.boolean(),
  /** Whether other mutations arrive before this one is stored. */
  isAwaited: fc.boolean(),
});

const moments = fc.array(moment, { minLength: 5, maxLength: 60 });
/** Cache budget for no users, some users, or all. */
const maxCharacters = fc.constantFrom(0, 2_000, 1e6);

test('has exactly the acknowledged writes in memory and file after random failures', async () => {
  await fc.assert(
    fc.asyncProperty(moments, maxCharacters, async (moments, maxCharacters) => {
      const { queue, disk, reader, write } = anSqliteQueue({ maxCharacters });
      const plain = plainUsers();
      let under: { each: Step; stored: Promise<boolean> }[] = [];
      const compare = async () => {
        for (const { each, stored } of under) if (await stored) perform(plain.users, each);
        under = [];
        expect(await seenIn(reader)).toEqual(plain.seen());
      };
      for (const [index, { step: each, isFull, isAwaited }] of moments.entries()) {
        disk.problem = isFull ? 'disk full' : null;
        const stored = write(each).then(
          () => true,
          (error: Error) => {
            expect(error.message).toMatch(/^(disk full|apply failed)$/);
            return false;
          },
        );
        under.push({ each, stored });
        if (isAwaited) await stored;
        else if (index % 3 === 0) await new Promise(setImmediate);
        if (index % 10 === 9) await compare();
      }
      await compare();
      await queue.close();
    }),
    { numRuns: times(150) },
  );
});
