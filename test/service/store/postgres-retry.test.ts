import { expect, test } from 'vitest';
import { retryConflicts } from '../../../src/service/store/postgres/statement.ts';
import { ConflictError } from '../../../src/service/store/write-errors.ts';

const CONFLICT = new ConflictError('Another replica was faster');
const LOCKED = Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' });

/** Outcome of a transaction that gets these errors in turn, the last one repeatedly. */
const ending = async (...errors: Error[]) => {
  let attempts = 0;
  const error = await retryConflicts(async (attempt) => {
    attempts = attempt;
    if (attempt > 20) throw new Error('It never ends');
    throw errors[attempt - 1] ?? errors.at(-1);
  }).catch((refused: Error) => refused.name);
  return { error, attempts };
};

test.each([
  ['only locks', [LOCKED], 2],
  ['a conflict, then locks', [CONFLICT, LOCKED], 3],
  ['two conflicts, then locks', [CONFLICT, CONFLICT, LOCKED], 4],
  ['a conflict between two locks', [LOCKED, CONFLICT, LOCKED], 3],
  ['only conflicts', [CONFLICT], 12],
  ['a lock at the last attempt', [...Array.from({ length: 11 }, () => CONFLICT), LOCKED, CONFLICT], 12],
])('waits twice for a lock and makes at most twelve attempts: %s', async (_, errors, attempts) => {
  expect(await ending(...errors)).toEqual({ error: 'TransientError', attempts });
});
