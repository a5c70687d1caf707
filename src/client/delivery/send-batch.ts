import { utf8Bytes } from '../../protocol/index.ts';
import type { Notify } from '../notice.ts';
import type { Clock } from '../platform/clock.ts';
import type { BatchDelivery, createDeliver } from './deliver.ts';
import { nothingSettled, type Settled } from './event-moves.ts';
import type { KeepaliveBudget } from './keepalive-budget.ts';
import type { Mirror } from './mirror.ts';
import type { Batch, WaitReason } from './records.ts';
import { report } from './report.ts';
import type { createSettle } from './settle.ts';

/** A keepalive request that fails faster than this never left: the browser's quota was used up, perhaps by others. */
const REFUSED_AT_ONCE_MS = 20;

export interface SendBatchOptions {
  clock: Clock;
  deliver: ReturnType<typeof createDeliver>;
  settle: ReturnType<typeof createSettle>;
  budget: KeepaliveBudget;
  mirror: Mirror;
  maxBatch: number;
  timeoutMs: number;
  /** The page is hidden: it may never run again. */
  isLeaving: () => boolean;
  /** How often the network or the user has come back so far. */
  signs: () => number;
  onAnswer: () => void;
  onSettled: (settled: Settled) => void;
  notify: Notify;
}

/** Sends leased batches within the time and the keepalive budget, and brings the outcomes to disk and to the host. */
export const createSendBatch = (options: SendBatchOptions) => {
  const { clock, deliver, settle, budget, mirror, maxBatch, timeoutMs } = options;
  const { isLeaving, signs, onAnswer, onSettled, notify } = options;
  const inFlight = new Set<AbortController>();
  let limit = maxBatch;
  let announcedUntil = 0;

  /** Each wait is told once, whoever meets it first. */
  const announce = ({ until, reason }: { until: number; reason: WaitReason }): void => {
    if (announcedUntil === until) return;
    announcedUntil = until;
    notify({ type: 'waiting', untilMs: until, reason });
  };

  const finish = async (batch: Batch, delivery: BatchDelivery, key: string) => {
    const settled = await settle(batch, delivery, key);
    onSettled(settled);
    report(notify, delivery, settled);
    if (settled.waiting !== null) announce(settled.waiting);
    return { delivery, settled };
  };

  return {
    announce,

    /** `otherwise` is asked where a keepalive request failed, and answers whether it takes over. */
    async send(
      batch: Batch,
      key: string,
      otherwise = () => false,
    ): Promise<{ delivery: BatchDelivery; settled: Settled }> {
      const giveBack = budget.take(utf8Bytes(batch.body), isLeaving());
      mirror.take(batch.keys);
      const began = clock.monotonic();
      const signsBefore = signs();
      const abort = new AbortController();
      inFlight.add(abort);
      const cancelTimeout = clock.after(timeoutMs, () =>
        abort.abort(new Error(`no answer within ${timeoutMs} ms`)),
      );
      const request = { body: batch.body, key, keepalive: giveBack !== undefined, signal: abort.signal };
      const delivery = await deliver(request, batch.keys.length);
      cancelTimeout();
      inFlight.delete(abort);
      giveBack?.();
      if (delivery.type !== 'in-doubt') {
        if (giveBack !== undefined) budget.recover();
        onAnswer();
      } else {
        // A change of networks ends the requests that are under way (ERR_NETWORK_CHANGED in Chromium).
        delivery.outdated = signs() !== signsBefore;
        if (giveBack !== undefined && !abort.signal.aborted) {
          if (clock.monotonic() - began < REFUSED_AT_ONCE_MS) budget.refused();
          // On a busy machine a refusal takes longer, and a network that failed may be back when the page is gone.
          if (otherwise()) return { delivery, settled: nothingSettled() };
        }
      }
      if (delivery.type === 'rejected' && delivery.status === 413) {
        limit = Math.max(1, Math.ceil(batch.keys.length / 2));
      }
      return finish(batch, delivery, key);
    },

    /** Nobody can read the answer any more: the batch's tab is gone. */
    async abandon(batch: Batch): Promise<void> {
      await finish(batch, { type: 'in-doubt', cause: new Error('its page is gone'), abandoned: true }, '');
    },

    abortAll() {
      for (const request of inFlight) request.abort();
    },

    /** Events in one batch: what the host chose, or what the server's size limit taught. */
    limit: () => limit,
  };
};
