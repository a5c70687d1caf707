import type { BannerEvent } from '../../banner.ts';
import { fingerprint } from '../../credentials/keyring.ts';
import type { DropReason, Notice } from '../../notices.ts';
import { backoffMs, isAhead, MAX_WAIT_MS } from '../../platform/waits.ts';
import type { DeliveryContext } from '../context.ts';
import { toDeadLetter } from '../log/letters.ts';
import type { Log } from '../log/log.ts';
import {
  bannerEvent,
  type Claim,
  type Control,
  claimKey,
  type EventKey,
  isClaim,
  noWait,
  type QueuedEvent,
  readEvent,
  type Writes,
} from '../log/records.ts';
import type { BatchOutcome } from './answer.ts';

/** Requests in a row that are refused without the name of an event, before the next one waits. */
const MAX_REFUSALS = 8;

/** Until when all tabs wait after this outcome, where `before` says until when they wait now. */
export const waitAfter = (
  { clock, random }: DeliveryContext,
  before: Control['wait'],
  { type, wait, skipped }: BatchOutcome,
): Control['wait'] => {
  const now = clock.now();
  // No tab sends before the time that the server named, whatever other requests under way are answered.
  const isLimited = before.reason === 'rate-limit' && isAhead(before.until, now, MAX_WAIT_MS);
  if (type === 'confirmed') return isLimited ? before : noWait();

  const isNoEventAtFault = type === 'refused' && skipped.length === 0;
  if (wait === undefined && !isNoEventAtFault) return before;
  const failures = before.failures + 1;
  // A server that refuses so many requests in a row refuses them for something else than an event.
  const pause =
    wait ?? (failures >= MAX_REFUSALS ? { reason: 'backoff' as const, ms: undefined } : undefined);
  const until = now + (pause?.ms ?? backoffMs(failures, random));
  const keepsBefore =
    pause === undefined || (isLimited && (pause.reason !== 'rate-limit' || until < before.until));
  return keepsBefore ? { ...before, failures } : { until, reason: pause.reason, failures, endedEarly: false };
};

/** What became of the events of one request. */
interface Settled {
  delivered: BannerEvent[];
  /** Keys that left the queue. */
  gone: EventKey[];
  /** For the host. */
  notices: Notice[];
  writes: Writes;
}

const nothing = (): Settled => ({ delivered: [], gone: [], notices: [], writes: [] });

/**
 * Decides what becomes of the events: item i of `items` is event i of the request, or a gap where it was purged meanwhile.
 * What has no write stays in the queue as it is. Changes the totals of `control`, and nothing else.
 */
const settleEvents = (
  { host, isWorker, clock, options }: DeliveryContext,
  control: Control,
  { until }: Claim,
  items: (QueuedEvent | undefined)[],
  { type, skipped, failure }: BatchOutcome,
): Settled => {
  const settled = nothing();
  const { gone, notices, writes } = settled;
  // The host has a hook that corrects events, here or in a page.
  const corrects = isWorker || host.correct !== undefined;
  const kept = items.filter((item) => item !== undefined);
  const named = new Map(skipped.map(({ index, reason }) => [items[index], reason]));
  const others = kept.filter((item) => !named.has(item));

  const drop = ({ key, event }: QueuedEvent, reason: DropReason, detail: string): void => {
    gone.push(key);
    notices.push({ type: 'dropped', event: bannerEvent(event), reason, detail });
  };
  const bury = ({ key, event }: QueuedEvent, reason: DropReason, detail: string): void => {
    drop({ key, event }, reason, detail);
    writes.push(...toDeadLetter({ key, event: { ...event, attempts: event.attempts + 1 } }, detail));
  };
  /** Named by the server: one attempt older, and corrected by the host, sent again later, or dead. */
  const skip = (item: QueuedEvent, reason: string): void => {
    const { doubt: _answered, ...event } = item.event;
    const attempts = event.attempts + 1;
    notices.push({ type: 'skipped', event: bannerEvent(event), reason, attempts });
    const next = corrects ? { skip: reason } : { after: clock.now() + options.maxWaitMs };
    if (attempts >= options.maxAttempts) bury(item, 'attempts', reason);
    else writes.push([item.key, { ...event, attempts, ...next }]);
  };

  for (const [item, reason] of named) if (item) skip(item, reason);
  if (type === 'confirmed') {
    control.delivered += others.length;
    settled.delivered = others.map(({ event }) => bannerEvent(event));
    gone.push(...others.map(({ key }) => key));
    writes.push(...others.map(({ key }): Writes[0] => [key, undefined]));
  }
  if (type === 'in-doubt') {
    notices.push({ type: 'in-doubt', events: kept.map(({ event }) => bannerEvent(event)) });
    for (const { key, event } of kept) {
      // It may have been taken or not: it goes out again with its companions, or is given up.
      const isKept = options.inDoubt[event.type] === 'at-least-once';
      writes.push([key, isKept ? { ...event, doubt: event.doubt ?? until } : undefined]);
      if (isKept) continue;
      control.discarded += 1;
      drop({ key, event }, 'discarded', 'in doubt, at most once');
    }
  }
  const [first] = others;
  // Refused alone: unchanged it could only be refused again, so without a correction this is the end.
  if (type === 'refused' && skipped.length === 0 && items.length === 1 && first) {
    if (corrects) skip(first, failure?.message ?? '');
    else bury(first, 'rejected', failure?.message ?? '');
  }
  return settled;
};

/**
 * Brings the outcome of one request to disk in one transaction: index i of the answer is item i of `claim.keys`. `apiKey` is
 * the one that was sent.
 */
export const createSettle =
  (context: DeliveryContext, log: Log) =>
  async (claim: Claim, outcome: BatchOutcome, apiKey: string): Promise<Omit<Settled, 'writes'>> => {
    const { type, wait } = outcome;
    let settled = nothing();
    let wasOurs = false;

    const decide = (control: Control, [stored, ...records]: unknown[]): Writes | null => {
      const isRegular = control.claim?.id === claim.id;
      const isOurs = isRegular || (isClaim(stored) && stored.id === claim.id);
      // After a lost connection this runs twice: where the first run committed, change nothing.
      if (wasOurs && !isOurs) return null;
      wasOurs = isOurs;
      const items = claim.keys.map((key, i): QueuedEvent | undefined => {
        const event = readEvent(records[i]);
        return event && { key, event };
      });
      const isEmpty = items.every((item) => item === undefined);
      // A confirmation always counts, even where the claim is over or was never written. Any other outcome counts only for the
      // request that the log knows.
      if (!isOurs && (type !== 'confirmed' || isEmpty)) return null;
      if (isRegular) control.claim = null;
      control.wait = waitAfter(context, control.wait, outcome);
      if (type === 'confirmed') control.refusedKey = null;
      if (wait?.reason === 'unauthorized') control.refusedKey = fingerprint(apiKey);
      settled = isEmpty ? nothing() : settleEvents(context, control, claim, items, outcome);
      return [[claimKey(claim.id), undefined], ...settled.writes];
    };

    await log.step([claimKey(claim.id), ...claim.keys], decide);
    return settled;
  };
