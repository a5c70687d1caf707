import { setTimeout as pause } from 'node:timers/promises';
import { createWaiting } from '../../waiting.ts';
import type { Commit } from '../store.ts';

/** The answers of a batch bring the next requests: they find room in the next batch, if that waits for them so long. */
const BREATH_MS = 1;

/** The next batch begins once it is this share of the one under way. To wait until it is as large cost a tenth of the rate. */
const SHARE_TO_BEGIN = 1 / 5;

/**
 * Runs what waits in batches. Alone with its users, the next begins while one is under way, unless it would be a very
 * small one: what it has to do first is then done when the database is free again. Beside others who write the same
 * users, where each waits for the other's batch, few large batches are better: one at a time, and not at once after the
 * other.
 */
export const createPipeline = <T>(options: {
  /** Items a batch may hold. */
  most: number;
  isAlone(): boolean;
  /** Settles every item itself and never rejects. */
  run(items: T[]): Promise<void>;
  /** Hears of each that has waited too long. */
  refuse(item: T): void;
  onBatch(batch: Commit): void;
}) => {
  const { most, isAlone, run, refuse, onBatch } = options;
  const waiting = createWaiting({ refuse });
  const underWay: unknown[][] = [];
  let isScheduled = false;

  const isDue = () => {
    const [first, second] = underWay;
    if (!first) return waiting.count() > 0;
    return !second && isAlone() && waiting.count() >= first.length * SHARE_TO_BEGIN;
  };

  const runNext = async () => {
    const { items, waitedMs } = waiting.take(most);
    underWay.push(items);
    const started = performance.now();
    await run(items);
    onBatch({ works: items.length, waitedMs, writingMs: performance.now() - started });
    if (!isAlone()) await pause(BREATH_MS);
    underWay.splice(underWay.indexOf(items), 1);
    start();
  };

  const start = () => {
    isScheduled = false;
    while (isDue()) void runNext();
  };

  return {
    isRefusing: waiting.isRefusing,
    add(item: T) {
      waiting.add(item);
      if (isScheduled || !isDue()) return;
      isScheduled = true;
      setImmediate(start);
    },
  };
};
