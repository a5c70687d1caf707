import { isbot } from 'isbot';
import {
  DAY_MS,
  ERROR_MESSAGES,
  MAX_TRACK_BODY_BYTES,
  MAX_TRACK_EVENTS,
  MAX_TRACK_VALUES,
  parseInstant,
  rateLimitHeaders,
  TRACK_PATH,
} from '../../protocol/index.ts';
import {
  type BannersTrackBody,
  bannersTrackBody,
  bannersTrackRequest,
  bannersTrackResponse,
  EVENT_ERROR,
  readBody,
  wireEvent,
} from '../../protocol/schemas/index.ts';
import {
  assertKnownApp,
  browserBody,
  defineRoute,
  ENVELOPE_EXAMPLE,
  type RouteContext,
} from '../api/route.ts';
import type { BannerIds, GetBannerIds } from '../campaigns/banner-id.ts';
import { priorityOrder } from '../campaigns/campaign-order.ts';
import { findHoldoutOfEvent } from '../campaigns/holdout.ts';
import { schemaReader } from '../http/body.ts';
import { HttpError } from '../http/http-request.ts';
import type { NewBannerEvent } from '../profiles/events.ts';
import { createKeyQuota } from '../profiles/profile.ts';
import { createClickEffect } from '../users/click-effects.ts';
import type { Workspace } from '../workspace/workspace.ts';

interface ValidEvent {
  /** Row to store. */
  row: NewBannerEvent;
  /** Whether a sync returned its banner to this user. */
  isIssuedToUser: boolean;
  index: number;
}

/**
 * Maximum age of an event's time in the results. A device clock that is wrong by years must not create rows for arbitrary days.
 */
const MAX_LATE_MS = 400 * DAY_MS;

/** Returns the day of an event in the results. If the event's time is implausible, uses the time of receipt. */
const getLocalDay = ({ calendar }: Workspace, timeMs: number, receivedAtMs: number): string =>
  calendar.toDay(timeMs > receivedAtMs - MAX_LATE_MS ? Math.min(timeMs, receivedAtMs) : receivedAtMs);

/** Context of a request whose events are not validated yet. */
type TrackContext = RouteContext<BannersTrackBody>;

/** Maximum characters checked for bots, because matching a header of 16 KB would take milliseconds. Bot names come first. */
const MAX_USER_AGENT = 512;
/**
 * Returns whether a well-known bot sent the request. Bots that run pages identify as `Mozilla/5.0 (compatible; …`. The isbot list
 * also contains HTTP clients, such as Node's `fetch` (`node`), with which backends forward events, and headless browsers, which
 * mostly run the site's own tests. Neither counts as a bot here.
 */
const isFromBot = (userAgent: string): boolean =>
  userAgent.startsWith('Mozilla/') &&
  isbot(userAgent.slice(0, MAX_USER_AGENT).replace('HeadlessChrome', 'Chrome'));

/** Rejected event in the response. */
interface RejectedEvent {
  type: string;
  index: number;
}

/** Returns the event, or its first error. */
const validateEvent = (
  sent: unknown,
  index: number,
  ids: BannerIds,
  { workspace, body, now: receivedAtMs }: TrackContext,
  isBot: boolean,
): ValidEvent | string => {
  const event = readBody(wireEvent, sent);
  if (typeof event === 'string') return event;
  const payload = ids.decode(event.id);
  const timeMs = parseInstant(event.timestamp);
  if (!payload || timeMs === null) return EVENT_ERROR.invalidId;
  const { isTestSend, ...banner } = payload;
  const row: Omit<NewBannerEvent, 'holdoutId'> = {
    ...banner,
    // Events of well-known bots are stored like test sends: excluded from results and caps.
    isTestSend: isTestSend || isBot,
    appId: body.app_id,
    bannerId: event.id,
    eventType: event.event_type,
    buttonId: event.button_id ?? null,
    timeMs,
    receivedAtMs,
    day: getLocalDay(workspace, timeMs, receivedAtMs),
  };
  const holdoutId = findHoldoutOfEvent(row, workspace, body.external_user_id);
  return {
    row: { ...row, holdoutId },
    isIssuedToUser: ids.isIssuedTo(event.id, body.external_user_id),
    index,
  };
};

const validateEvents = (
  ids: BannerIds,
  context: TrackContext,
): { valid: ValidEvent[]; rejected: RejectedEvent[] } => {
  const valid: ValidEvent[] = [];
  const rejected: RejectedEvent[] = [];
  // Checked once per request, not per event.
  const isBot = isFromBot(context.userAgent);
  for (const [index, event] of context.body.events.entries()) {
    const each = validateEvent(event, index, ids, context, isBot);
    if (typeof each === 'string') rejected.push({ type: each, index });
    else valid.push(each);
  }
  return { valid, rejected };
};

/** Counts a user about to be created. Throws a 429 if the limit of new users in this window is exceeded. */
const consumeNewUserLimit = async ({ workspace, store, now }: RouteContext): Promise<void> => {
  const state = await store.consumeRateLimit(workspace.limits.new_users, now);
  if (state.allowed) return;
  throw new HttpError(429, ERROR_MESSAGES.overRateLimit, {
    headers: rateLimitHeaders('banners', state, now, true),
    reason: `${ERROR_MESSAGES.overRateLimit}: more than ${state.limit} new users in the window of limits.new_users`,
  });
};

/** Returns the effects of clicks on banners that a sync returned to this user, except test sends. */
const clickEffects = (
  events: readonly ValidEvent[],
  { workspace, now: nowMs }: RouteContext,
  externalId: string,
): ReturnType<typeof createClickEffect>[] => {
  const keyQuota = createKeyQuota();
  const { byId } = priorityOrder(workspace);
  return events.flatMap(({ row, isIssuedToUser }) => {
    if (row.eventType !== 'click' || row.isTestSend || !isIssuedToUser) return [];
    const campaign = byId.get(row.campaignId);
    const onClick = campaign?.variants.find(({ variantId }) => variantId === row.variantId)?.onClick;
    return onClick ? [createClickEffect(row, onClick, { workspace, externalId, keyQuota, nowMs })] : [];
  });
};

/**
 * Stores events with the effects of their clicks. Returns `false`, and stores nothing, if the user is unknown and
 * `createIfMissing` is `false`.
 */
const record = (
  events: readonly ValidEvent[],
  context: TrackContext,
  createIfMissing: boolean,
): Promise<boolean> => {
  const { workspace, store, now, body } = context;
  const { external_user_id: externalId } = body;
  const effects = clickEffects(events, context, externalId);
  const rows = events.map(({ row }) => row);
  return store.write({
    workspaceId: workspace.workspaceId,
    lookups: [{ by: 'external_id', value: externalId }],
    nowMs: now,
    apply(users) {
      if (!users.recordBannerEvents(externalId, rows, now, createIfMissing)) return false;
      for (const applyEffect of effects) applyEffect(users);
      return true;
    },
  });
};

export const bannersTrack = (getBannerIds: GetBannerIds) =>
  defineRoute({
    path: TRACK_PATH,
    permission: 'banners.track',
    errorFormat: 'track',
    limit: 'banners_track',
    body: browserBody(schemaReader(bannersTrackBody, bannersTrackRequest), {
      maxBytes: MAX_TRACK_BODY_BYTES,
      maxValues: MAX_TRACK_VALUES,
    }),
    response: { status: 202, schema: bannersTrackResponse },
    writes: true,
    operation: {
      id: 'trackBanners',
      tag: 'Banners',
      summary: 'Record events of banners',
      description: `Events are validated one by one; \`errors\` lists skipped ones by index. Repeats of the same user, banner, type and instant are stored once. An \`id\` is one that a sync returned for this user. At most ${MAX_TRACK_EVENTS.toLocaleString('en-US')} events.`,
      example: {
        ...ENVELOPE_EXAMPLE,
        events: [
          {
            id: 'bnr_kP2d0Qm5yB7hJ0h3xw',
            event_type: 'impression',
            timestamp: '2026-03-01T09:20:01.250Z',
          },
        ],
      },
      badRequest:
        'A member is missing or not valid, no event was valid, or the body is not JSON or too large.',
      notFound: 'Banners are not enabled in this workspace.',
    },
    handler: async (context) => {
      const { workspace, body, metrics } = context;
      assertKnownApp(workspace, body.app_id);
      const { valid, rejected } = validateEvents(await getBannerIds(workspace.workspaceId), context);
      const isKnown = valid.length > 0 && (await record(valid, context, false));
      // Client keys must not create arbitrary users, so only banner IDs that a sync returned count for unknown users.
      const events = isKnown ? valid : valid.filter(({ isIssuedToUser }) => isIssuedToUser);
      const unverified = isKnown ? [] : valid.filter(({ isIssuedToUser }) => !isIssuedToUser);
      const errors = [
        ...rejected,
        ...unverified.map(({ index }) => ({ type: EVENT_ERROR.invalidId, index })),
      ].sort((one, other) => one.index - other.index);
      for (const { type } of errors) metrics.error(type);
      if (events.length === 0)
        throw new HttpError(400, ERROR_MESSAGES.noValidEvents, { members: { errors } });
      if (!isKnown) {
        await consumeNewUserLimit(context);
        await record(events, context, true);
      }
      metrics.objects('banner_events', events.length);
      return {
        body: { events_processed: events.length, message: 'success', ...(errors.length > 0 && { errors }) },
      };
    },
  });
