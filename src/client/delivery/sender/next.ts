import type { StoreKey } from '../../platform/store.ts';
import { isAhead, MAX_ANSWER_MS, MAX_PAUSE_MS, MAX_WAIT_MS } from '../../platform/waits.ts';
import type { DeliveryContext } from '../context.ts';
import type { Log } from '../log/log.ts';
import {
  type Claim,
  EVENT_RANGE,
  isAlone,
  isLive,
  keyText,
  type QueuedEvent,
  type Wait,
} from '../log/records.ts';
import { isSameGroup, planBatches } from './claim.ts';

/** A batch alone fits the keepalive budget. */
const MAX_BODY_BYTES = 50_000;
/** How many events are read for company of the first one. */
const MAX_READ = 1_000;

/** What there is to do next. */
export type Next =
  | { type: 'send'; batch: QueuedEvent[] }
  /** No answer to this request can come any more: its events are in doubt. */
  | { type: 'over'; claim: Claim }
  /** Ask the host for a token of this user. */
  | { type: 'token'; userId: string }
  /** Ask the host for a correction of these. */
  | { type: 'correct'; kept: QueuedEvent[] }
  /** Another page sends. */
  | { type: 'busy'; until: number }
  /** No tab may send before `until`. */
  | { type: 'waiting'; wait: Wait }
  /** Nothing now; look again at `due` (Unix milliseconds), or when something new happens. */
  | { type: 'nothing'; due: number };

/** Finds what to do next from the head of the queue. `all`: whether or not it is due. */
export const createNext = (context: DeliveryContext, log: Log, limit: () => number) => {
  const { clock, options, userTokens, isWorker } = context;
  const { now } = clock;
  const { maxWaitMs } = options;

  /** Reads until a batch is full or nothing is left. */
  const scan = async (claimed: Set<string>) => {
    const waiting: QueuedEvent[] = [];
    const skipped: QueuedEvent[] = [];
    const corrupt: StoreKey[] = [];
    let due = Number.POSITIVE_INFINITY;
    let read = 0;
    let same = 0;
    for await (const { key, event } of log.read(EVENT_RANGE)) {
      read += 1;
      if (event === undefined) corrupt.push(key);
      else if (claimed.has(keyText(key))) continue;
      else if (isAhead(event.asked ?? 0, now(), MAX_ANSWER_MS)) due = Math.min(due, event.asked!);
      else if (event.skip !== undefined) skipped.push({ key, event });
      else if (isAhead(event.after ?? 0, now(), Math.max(maxWaitMs, MAX_PAUSE_MS)))
        due = Math.min(due, event.after!);
      else if (userTokens.isPaused(event.userId)) due = Math.min(due, userTokens.pausedUntil(event.userId));
      else {
        waiting.push({ key, event });
        same += Number(isSameGroup(options, waiting[0]!.event, event));
      }
      if (same >= limit() || (read >= MAX_READ && same > 0)) break;
    }
    return { waiting, skipped, corrupt, due };
  };

  return async (all: boolean): Promise<Next> => {
    const { control, claims, corrupt } = await log.overview();
    if (corrupt.length > 0) await log.removeCorrupt(corrupt);
    const { wait, claim } = control;
    if (isAhead(wait.until, now(), MAX_WAIT_MS)) return { type: 'waiting', wait };
    if (claim && isAlone(claim, now()))
      return { type: 'busy', until: Math.min(claim.until, claim.aloneUntil) };
    const live = claims.filter((each) => isLive(each, now()));
    const over = claims.find((each) => !live.includes(each));
    if (over) return { type: 'over', claim: over };

    const found = await scan(new Set(live.flatMap(({ keys }) => keys.map(keyText))));
    if (found.corrupt.length > 0) await log.removeCorrupt(found.corrupt);
    if (!isWorker && found.skipped.length > 0) return { type: 'correct', kept: found.skipped };
    const [oldest] = found.waiting;
    if (!oldest) return { type: 'nothing', due: Math.min(found.due, ...live.map(({ until }) => until)) };
    const { userId, time } = oldest.event;
    // A time far in the future means that the clock was set back since. Such an event is due.
    const isOld = Math.abs(now() - time) >= maxWaitMs;
    // What was refused a moment ago has had its wait.
    const isDue = isOld || wait.failures > 0 || found.waiting.length >= limit();
    if (!all && !isDue) return { type: 'nothing', due: time + maxWaitMs };
    // A token is requested before the claim: the host may take its time.
    if (!userTokens.isReady(userId)) return { type: 'token', userId };
    const group = found.waiting.filter(({ event }) => isSameGroup(options, oldest.event, event));
    const [batch = [oldest]] = planBatches(group, MAX_BODY_BYTES, limit(), context);
    return { type: 'send', batch };
  };
};
