import { utf8Bytes } from '../../../protocol/index.ts';
import type { DeliveryHost } from '../delivery.ts';
import { type BatchDelivery, type KeepaliveBudget, type PostTrack, readAnswer } from '../http/index.ts';
import type { Batch, EventKey, Wait } from '../log/index.ts';
import type { DeliveryPage } from '../page.ts';
import type { Scheduler } from './scheduler.ts';
import type { createSettle, Outcome } from './settle.ts';

/** A keepalive request that fails faster than this never left: the browser's quota was used up, perhaps by others. */
const REFUSED_AT_ONCE_MS = 20;

/** What the sender tells of the events that this page holds in memory, and of those in the log. */
export interface SenderQueue {
  /** The last flush of this page took it, perhaps without a batch on disk yet. */
  isHeld: (key: EventKey) => boolean;
  /** These are part of a request. */
  sent: (keys: EventKey[]) => void;
  /** These left the log. */
  gone: (keys: EventKey[]) => void;
}

export interface SendBatchOptions {
  page: DeliveryPage;
  post: PostTrack;
  budget: KeepaliveBudget;
  settle: ReturnType<typeof createSettle>;
  scheduler: Pick<Scheduler, 'signs' | 'answered'>;
  onDelivered: NonNullable<DeliveryHost['onDelivered']>;
  queue: SenderQueue;
}

const kindOf = (delivery: BatchDelivery) => {
  const status = delivery.type === 'rejected' ? delivery.status : 0;
  if (status === 401 || status === 403) return 'unauthorized';
  return status === 404 ? 'not-found' : 'deliver';
};

/** Sends leased batches within the time and the keepalive budget, and brings the outcomes to disk and to the host. */
export const createSendBatch = (options: SendBatchOptions) => {
  const { page, post, budget, settle, scheduler, onDelivered, queue } = options;
  const { clock, lifecycle, notify } = page;
  const { maxBatch, timeoutMs } = page.options;
  const inFlight = new Set<AbortController>();
  let limit = maxBatch;
  let announcedUntil = 0;

  /** Each wait is told once, whoever meets it first. */
  const announce = ({ until, reason }: Wait): void => {
    if (announcedUntil === until) return;
    announcedUntil = until;
    notify({ type: 'waiting', untilMs: until, reason });
  };

  const report = (delivery: BatchDelivery, { delivered, skipped, dropped, inDoubt }: Outcome): void => {
    if (delivered.length > 0) {
      onDelivered(delivered);
      notify({ type: 'delivered', events: delivered });
    }
    for (const skip of skipped) notify({ type: 'skipped', ...skip });
    for (const drop of dropped) notify({ type: 'dropped', ...drop });
    if (inDoubt.length > 0) notify({ type: 'in-doubt', events: inDoubt });
    if ('problems' in delivery) {
      for (const message of delivery.problems) notify({ type: 'failed', kind: 'answer', message });
    }
    if (delivery.type === 'accepted') return;
    const fact =
      delivery.type === 'in-doubt'
        ? { message: 'no answer could be read', cause: delivery.cause }
        : { message: delivery.reason };
    notify({ type: 'failed', kind: kindOf(delivery), ...fact });
  };

  const finish = async (batch: Batch, delivery: BatchDelivery, key: string): Promise<Outcome> => {
    const outcome = await settle(batch, delivery, key);
    queue.gone(outcome.gone);
    report(delivery, outcome);
    if (outcome.waiting !== null) announce(outcome.waiting);
    return outcome;
  };

  const request = async (batch: Batch, key: string, keepalive: boolean): Promise<BatchDelivery> => {
    const began = clock.monotonic();
    const signsBefore = scheduler.signs();
    const abort = new AbortController();
    const { signal } = abort;
    inFlight.add(abort);
    const cancelTimeout = clock.after(timeoutMs, () =>
      abort.abort(new Error(`no answer within ${timeoutMs} ms`)),
    );
    try {
      const answer = await post({ body: batch.body, key, keepalive, signal });
      const delivery = readAnswer(answer, batch.keys.length, clock.now());
      if (delivery.type !== 'in-doubt') {
        if (keepalive) budget.recover();
        scheduler.answered();
      }
      return delivery;
    } catch (cause) {
      const isRefused = clock.monotonic() - began < REFUSED_AT_ONCE_MS;
      if (keepalive && isRefused && !signal.aborted) budget.refused();
      // A change of networks ends the requests that are under way (ERR_NETWORK_CHANGED in Chromium).
      return { type: 'in-doubt', cause, outdated: scheduler.signs() !== signsBefore };
    } finally {
      cancelTimeout();
      inFlight.delete(abort);
    }
  };

  return {
    announce,

    async send(batch: Batch, key: string): Promise<{ delivery: BatchDelivery; outcome: Outcome }> {
      queue.sent(batch.keys);
      const free = budget.take(utf8Bytes(batch.body), !lifecycle.isVisible());
      const delivery = await request(batch, key, free !== undefined);
      free?.();
      if (delivery.type === 'rejected' && delivery.status === 413) {
        limit = Math.max(1, Math.ceil(batch.keys.length / 2));
      }
      return { delivery, outcome: await finish(batch, delivery, key) };
    },

    /** The answer cannot be read any more: the batch's tab is gone. */
    async abandon(batch: Batch): Promise<void> {
      await finish(batch, { type: 'in-doubt', cause: new Error('its page is gone'), abandoned: true }, '');
    },

    abortAll(): void {
      for (const abort of inFlight) abort.abort();
    },

    /** Events in one batch: what the host chose, or what the server's size limit taught. */
    limit: () => limit,
  };
};

export type SendBatch = ReturnType<typeof createSendBatch>;
