import { utf8Bytes } from '../../../protocol/index.ts';
import type { DeliveryOptions } from '../../options/choices.ts';
import { compareKeys } from '../../platform/store.ts';
import type { DeliveryContext } from '../delivery.ts';
import type { QueuedEvent, StoredEvent } from '../log/records.ts';
import { mayHavePoison, type Outcome, trackBody, withUserToken } from './send.ts';

/** The smallest event takes so many bytes, so with less left the plan is full. */
const MIN_EVENT_BYTES = 70;

/** Batches never mix users, app versions or in-doubt policies, nor what was in doubt together with anything else. */
export const isSameGroup = ({ inDoubt }: DeliveryOptions, a: StoredEvent, b: StoredEvent): boolean =>
  a.userId === b.userId &&
  a.appId === b.appId &&
  a.appVersion === b.appVersion &&
  a.doubt === b.doubt &&
  inDoubt[a.type] === inDoubt[b.type];

export const byTime = ({ key: a }: QueuedEvent, { key: b }: QueuedEvent): number => compareKeys(a, b);

/** What an event adds to a body, with its comma. */
const eventBytes = (item: QueuedEvent): number =>
  utf8Bytes(trackBody([item, item])) - utf8Bytes(trackBody([item]));

/**
 * Divides events into batches of at most `maxBatch`, the first ones of `waiting` first, as far as `maxBytes` go for all
 * bodies together, with their users' tokens. Inside a batch they are in order of time.
 */
export const planBatches = (
  waiting: QueuedEvent[],
  maxBytes: number,
  maxBatch: number,
  { options, userTokens }: Pick<DeliveryContext, 'options' | 'userTokens'>,
): QueuedEvent[][] => {
  const batches: QueuedEvent[][] = [];
  let left = maxBytes;
  for (const item of waiting) {
    if (left < MIN_EVENT_BYTES) break;
    const batch = batches.find(
      (kept) => kept.length < maxBatch && isSameGroup(options, kept[0]!.event, item.event),
    );
    const cost = batch
      ? eventBytes(item)
      : utf8Bytes(withUserToken(trackBody([item]), userTokens.current(item.event.userId)));
    if (cost > left) continue;
    left -= cost;
    if (batch) batch.push(item);
    else batches.push([item]);
  }
  return batches.map((kept) => kept.sort(byTime));
};

/** After a request that was too large the next ones are smaller for this long. */
const SMALL_MS = 60 * 60_000;

/** How many events a batch may have: as the host chose, or fewer after a refusal. */
export const createBatchSize = ({ clock, options: { maxBatch } }: DeliveryContext) => {
  let limit = maxBatch;
  let largeAgainAt = 0;
  /** Sizes of the next batches after a request that one of its events may have spoilt. It is halved until that event is alone. */
  let cuts: number[] = [];
  return {
    limit: (): number => Math.min(clock.monotonic() < largeAgainAt ? limit : maxBatch, cuts[0] ?? maxBatch),
    /** Adapts the size to what became of a batch of `count` events. */
    learn(count: number, outcome: Outcome): void {
      const { type } = outcome;
      const isHalved = mayHavePoison(outcome);
      if (type !== 'refused' && type !== 'confirmed' && !isHalved) return;
      const half = Math.ceil(count / 2);
      cuts = [...(isHalved && count > 1 ? [half, count - half] : []), ...cuts.slice(1)];
      if (type === 'refused' && outcome.isTooLarge) {
        limit = half;
        largeAgainAt = clock.monotonic() + SMALL_MS;
      }
    },
  };
};

export type BatchSize = ReturnType<typeof createBatchSize>;
