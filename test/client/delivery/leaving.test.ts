import { expect, test } from 'vitest';
import { createLeaving } from '../../../src/client/delivery/leaving.ts';

const aPage = () => {
  const flushes: { answer(delivered: number): void; fail(cause: unknown): void }[] = [];
  const failures: unknown[] = [];
  let isHandedOver = false;
  const leaving = createLeaving({
    handOver: () => isHandedOver,
    lastFlush: () =>
      new Promise<number>((answer, fail) => {
        flushes.push({ answer, fail });
      }),
    onFailed: (cause) => failures.push(cause),
  });
  const handOver = () => {
    isHandedOver = true;
  };
  return { ...leaving, flushes, failures, handOver };
};

test('whoever leaves flushes, unless somebody takes it over', () => {
  const { leave, flushes, handOver } = aPage();
  leave();
  expect(flushes).toHaveLength(1);
  handOver();
  leave();
  expect(flushes).toHaveLength(1);
});

test('what flushes under way deliver is summed up, and counted once', async () => {
  const { leave, delivered, flushes } = aPage();
  expect(await delivered()).toBe(0);
  leave();
  leave();
  const sum = delivered();
  flushes[1]!.answer(3);
  flushes[0]!.answer(2);
  expect(await sum).toBe(5);
  expect(await delivered()).toBe(0);
});

test('a flush that fails is told of, and the next one works', async () => {
  const { leave, delivered, flushes, failures } = aPage();
  leave();
  const sum = delivered();
  flushes[0]!.fail('the disk is gone');
  expect(await sum).toBe(0);
  expect(failures).toEqual(['the disk is gone']);
  leave();
  const next = delivered();
  flushes[1]!.answer(4);
  expect(await next).toBe(4);
});
