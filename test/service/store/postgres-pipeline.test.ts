import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createPipeline } from '../../../src/service/store/postgres/pipeline.ts';
import type { Commit } from '../../../src/service/store/store.ts';

const aPipeline = (isAlone: boolean, most = 4) => {
  const begun: number[][] = [];
  const ends: (() => void)[] = [];
  const told: Commit[] = [];
  const pipeline = createPipeline<number>({
    most,
    isAlone: () => isAlone,
    run(items) {
      begun.push(items);
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.push(resolve);
      return promise;
    },
    refuse: (item) => expect.unreachable(`${item} was refused`),
    onBatch: (commit) => told.push(commit),
  });
  const add = async (...items: number[]) => {
    for (const item of items) pipeline.add(item);
    await nextTurn();
    await nextTurn();
  };
  const end = async (batch: number) => {
    ends[batch]!();
    await nextTurn();
  };
  return { begun, told, add, end };
};

test('what comes in one turn makes a batch', async () => {
  const { begun, add } = aPipeline(true);
  await add(1, 2, 3);
  expect(begun).toEqual([[1, 2, 3]]);
});

test('alone, the next batch begins as soon as a fifth of the one under way waits', async () => {
  const { begun, add } = aPipeline(true, 10);
  await add(1, 2, 3, 4, 5, 6);
  await add(7);
  expect(begun).toEqual([[1, 2, 3, 4, 5, 6]]);
  await add(8);
  expect(begun).toEqual([
    [1, 2, 3, 4, 5, 6],
    [7, 8],
  ]);
});

test('no more than two are under way, and a smaller one begins when there is room', async () => {
  const { begun, told, add, end } = aPipeline(true);
  await add(1);
  await add(2);
  await add(3, 4, 5, 6, 7);
  expect(begun).toEqual([[1], [2]]);
  await end(0);
  expect(begun).toEqual([[1], [2], [3, 4, 5, 6]]);
  await end(2);
  await end(1);
  expect(begun).toEqual([[1], [2], [3, 4, 5, 6], [7]]);
  expect(told.map(({ works }) => works)).toEqual([1, 4, 1]);
});

test('beside other replicas one batch is under way at a time', async () => {
  const { begun, add, end } = aPipeline(false);
  await add(1);
  await add(2);
  await add(3);
  expect(begun).toEqual([[1]]);
  await end(0);
  await expect.poll(() => begun).toEqual([[1], [2, 3]]);
});
