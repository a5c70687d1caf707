import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createTickBatcher } from '../../../src/service/http/serve-port.ts';

describe('the end of a turn', () => {
  test('runs the calls of one turn together, in order', async () => {
    const atEndOfTurn = createTickBatcher();
    const done: string[] = [];
    atEndOfTurn(() => done.push('first'));
    await Promise.resolve();
    atEndOfTurn(() => done.push('second'));
    expect(done).toEqual([]);
    await nextTurn();
    expect(done).toEqual(['first', 'second']);
    atEndOfTurn(() => done.push('of the next turn'));
    await nextTurn();
    expect(done).toEqual(['first', 'second', 'of the next turn']);
  });

  test('queues at most 64 calls', async () => {
    const atEndOfTurn = createTickBatcher();
    let done = 0;
    for (let job = 0; job < 65; job += 1) {
      atEndOfTurn(() => {
        done += 1;
      });
    }
    expect(done).toBe(64);
    await nextTurn();
    expect(done).toBe(65);
  });
});
