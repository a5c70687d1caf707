import { type BannersTrackRequest, USER_TOKEN_MEMBER, utf8Bytes } from '../../../protocol/index.ts';
import type { BannerEvent } from '../../banner.ts';
import type { DeliveryOptions } from '../../options/choices.ts';
import { compareKeys } from '../../platform/store.ts';
import { isAhead, MAX_WAIT_MS } from '../../platform/waits.ts';
import type { DeliveryContext } from '../context.ts';
import type { Log } from '../log/log.ts';
import { isQuota } from '../log/log-store.ts';
import {
  type Claim,
  type Control,
  claimKey,
  isAlone,
  keyText,
  type QueuedEvent,
  readEvent,
  type StoredEvent,
  VERSION,
  type Writes,
} from '../log/records.ts';

/** An event, and the app that captured it. */
export interface TrackedEvent extends BannerEvent {
  appId: string;
  appVersion: string;
}

/** The request's text for a batch of one user; the same events give the same bytes. */
export const trackBody = (events: TrackedEvent[]): string => {
  const [{ userId, appId, appVersion }] = events as [TrackedEvent];
  const request: BannersTrackRequest = {
    external_user_id: userId,
    app_id: appId,
    app_version: appVersion,
    events: events.map(({ bannerId, type, time }) => ({
      id: bannerId,
      event_type: type,
      timestamp: new Date(time).toISOString(),
    })),
  };
  return JSON.stringify(request);
};

/** The same request with the user's proof, which is not stored. */
export const withUserToken = (body: string, token: string | undefined): string =>
  token === undefined ? body : `${body.slice(0, -1)},"${USER_TOKEN_MEMBER}":${JSON.stringify(token)}}`;

/** No event is smaller: under this the plan is full. */
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
const eventBytes = (event: StoredEvent): number =>
  utf8Bytes(trackBody([event, event])) - utf8Bytes(trackBody([event]));

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
      ? eventBytes(item.event)
      : utf8Bytes(withUserToken(trackBody([item.event]), userTokens.current(item.event.userId)));
    if (cost > left) continue;
    left -= cost;
    if (batch) batch.push(item);
    else batches.push([item]);
  }
  return batches.map((kept) => kept.sort(byTime));
};

/** Added to the request's timeout: after both, no answer can come any more. */
const ANSWER_MARGIN_MS = 5_000;
/** An answer that takes longer may be to a page that is gone: another one sends what is not in that request. */
const ALONE_MS = 10_000;

/** A request under way. */
export interface Sending {
  claim: Claim;
  events: QueuedEvent[];
  body: string;
}

export const newSending = (
  { clock, options, tab, newId }: DeliveryContext,
  events: QueuedEvent[],
): Sending => ({
  claim: {
    v: VERSION,
    id: newId(),
    tab,
    until: clock.now() + options.timeoutMs + ANSWER_MARGIN_MS,
    aloneUntil: clock.now() + ALONE_MS,
    keys: events.map(({ key }) => key),
  },
  events,
  body: trackBody(events.map(({ event }) => event)),
});

/** What came of the attempt to take a claim. */
export type Taken =
  | { type: 'sending'; sending: Sending }
  /** Another page was faster, or nothing of the batch is left: look again. */
  | { type: 'gone' };

/**
 * Takes the claim for what is left of this batch. A disk that is too full to hold a claim still lets its events go, as a last
 * flush does; but not those that may be sent only once.
 */
export const createTake =
  (context: DeliveryContext, log: Log) =>
  async (batch: QueuedEvent[]): Promise<Taken> => {
    const { clock, options, canSend } = context;
    let sending: Sending | undefined;
    const decide = (control: Control, records: unknown[]): Writes | null => {
      // After a lost connection this runs twice: where the first run committed, change nothing.
      if (sending && control.claim?.id === sending.claim.id) return null;
      sending = undefined;
      const { claim, wait } = control;
      const now = clock.now();
      if (!canSend() || (claim && isAlone(claim, now)) || isAhead(wait.until, now, MAX_WAIT_MS)) return null;
      const kept = batch.flatMap(({ key, event: before }, i): QueuedEvent[] => {
        const event = readEvent(records[i]);
        const isFit = event && isSameGroup(options, event, before) && event.skip === undefined;
        return isFit && event.attempts === before.attempts ? [{ key, event }] : [];
      });
      const isClaimed =
        claim !== null && kept.some(({ key }) => claim.keys.some((each) => keyText(each) === keyText(key)));
      if (kept.length === 0 || isClaimed) return null;
      sending = newSending(context, kept);
      control.claim = sending.claim;
      return claim ? [[claimKey(claim.id), claim]] : [];
    };
    try {
      await log.step(
        batch.map(({ key }) => key),
        decide,
      );
    } catch (error) {
      const mayRepeat = batch.every(({ event }) => options.inDoubt[event.type] === 'at-least-once');
      if (!isQuota(error) || !mayRepeat || !canSend()) throw error;
      sending = newSending(context, batch);
    }
    return sending ? { type: 'sending', sending } : { type: 'gone' };
  };
