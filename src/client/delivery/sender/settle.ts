import type { DeliveryContext } from '../context.ts';
import type { BatchOutcome } from '../http/index.ts';
import {
  type Batch,
  batchKey,
  type Control,
  isInSending,
  type Log,
  type QueuedEvent,
  readEvent,
  type Writes,
} from '../log/index.ts';
import { createBatchChanges, type Settled } from './batch-changes.ts';

/**
 * Brings the outcome of one batch to disk in one transaction: index i of the answer is item i of `batch.keys`. `apiKey` is
 * the one that was sent.
 */
export const createSettle =
  (context: DeliveryContext, log: Log) =>
  async (batch: Batch, outcome: BatchOutcome, apiKey: string): Promise<Settled> => {
    const { type, skipped, wait, failure } = outcome;
    let settled: Settled = { delivered: [], gone: [], notices: [] };
    let wasOurs = false;

    const decide = (control: Control, [stored, ...records]: unknown[]): Writes | null => {
      const isOurs = isInSending(stored, batch);
      // After a lost connection this runs twice: where the first run committed, change nothing.
      if (wasOurs && !isOurs) return null;
      wasOurs = isOurs;
      // Item i stays at i: an event that was purged meanwhile leaves a gap.
      const items = batch.keys.map((key, i): QueuedEvent | undefined => {
        const event = readEvent(records[i]);
        return event && { key, event };
      });
      const kept = items.filter((item) => item !== undefined);
      // Confirmed is confirmed, even when another tab has taken the batch over or it was never written. Beyond that the
      // outcome of a batch that another tab sends now, or that is settled, is old news.
      if (!isOurs && (type !== 'confirmed' || kept.length === 0)) return null;
      settled = { delivered: [], gone: [], notices: [] };
      if (control.sender?.tab === context.tab) control.sender = null;
      const changes = createBatchChanges(context, control, isOurs ? stored : batch, settled);
      if (wait) changes.wait(wait, apiKey);

      const named = new Set(skipped.map(({ index }) => index));
      const others = items.filter((item, i): item is QueuedEvent => item !== undefined && !named.has(i));
      const skips = skipped.flatMap(({ index, reason }) =>
        items[index] ? changes.skip(items[index], reason) : [],
      );
      const writes = (): Writes => {
        if (kept.length === 0) return [];
        switch (type) {
          case 'confirmed':
            return [...changes.confirm(others), ...skips];
          case 'again':
            return changes.sendAgain(kept);
          case 'in-doubt':
            return changes.doubt(kept);
          case 'refused':
            if (named.size === 0) return changes.refuse(kept, failure?.message ?? '');
            // Named ones are at fault; the others were not taken, and go out again.
            return [...skips, ...changes.sendAgain(others)];
        }
      };
      // The batch ends here, unless one of the writes brings it back.
      return [[batchKey(batch.id), undefined], ...writes()];
    };

    await log.step([batchKey(batch.id), ...batch.keys], decide);
    return settled;
  };
