import { utf8Bytes } from '../../protocol/index.ts';
import { EVENT_VALUE } from './event-value.ts';
import type { Kept, StoredEvent } from './records.ts';
import { trackBody } from './track-body.ts';

export interface PlannedBatch {
  kept: Kept[];
  body: string;
  bytes: number;
}

export interface PlanOptions {
  budgetBytes: number;
  maxBatch: number;
  sameGroup: (a: StoredEvent, b: StoredEvent) => boolean;
}

/** No event is smaller: under this the plan is full. */
const LEAST_EVENT_BYTES = 70;
const byTime = (a: Kept, b: Kept): number => a.key[2] - b.key[2] || a.key[3] - b.key[3];

/** What an event adds to a body, with its comma. */
const eventBytes = (event: StoredEvent): number => {
  const two = trackBody([event, event]);
  return utf8Bytes(two) - utf8Bytes(trackBody([event]));
};

/**
 * The requests of a page that goes away, within a budget of bytes: the most valuable events first, oldest first among
 * equals; inside a batch they stay in order of time. What does not fit stays stored.
 */
export const planLastFlush = (
  waiting: Kept[],
  { budgetBytes, maxBatch, sameGroup }: PlanOptions,
): PlannedBatch[] => {
  const batches: { kept: Kept[]; bytes: number }[] = [];
  let left = budgetBytes;
  if (left < LEAST_EVENT_BYTES) return [];
  for (const item of [...waiting].sort(
    (a, b) => EVENT_VALUE[b.event.type] - EVENT_VALUE[a.event.type] || byTime(a, b),
  )) {
    if (left < LEAST_EVENT_BYTES) break;
    const added = eventBytes(item.event);
    const batch = batches.find(({ kept }) => kept.length < maxBatch && sameGroup(kept[0]!.event, item.event));
    const cost = batch === undefined ? utf8Bytes(trackBody([item.event])) : added;
    if (cost > left) continue;
    left -= cost;
    if (batch === undefined) batches.push({ kept: [item], bytes: cost });
    else {
      batch.kept.push(item);
      batch.bytes += cost;
    }
  }
  return batches.map(({ kept }) => {
    const ordered = [...kept].sort(byTime);
    const body = trackBody(ordered.map(({ event }) => event));
    return { kept: ordered, body, bytes: utf8Bytes(body) };
  });
};
