import { type BannersTrackRequest, USER_TOKEN_MEMBER, utf8Bytes } from '../../../protocol/index.ts';
import type { DeliveryOptions } from '../../options/choices.ts';
import { compareKeys } from '../../platform/store.ts';
import type { DeliveryContext } from '../delivery.ts';
import type { QueuedEvent, StoredEvent } from '../log/records.ts';

/** The request's text for a batch of one user; the same events give the same bytes. */
export const trackBody = (batch: Pick<QueuedEvent, 'event'>[]): string => {
  const { userId, appId, appVersion } = batch[0]!.event;
  const request: BannersTrackRequest = {
    external_user_id: userId,
    app_id: appId,
    app_version: appVersion,
    events: batch.map(({ event: { bannerId, type, time } }) => ({
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
