import { isbot } from 'isbot';
import {
  type BannersTrackRequest,
  ERROR_MESSAGES,
  EVENT_ERROR,
  MAX_TRACK_BODY_BYTES,
  MAX_TRACK_EVENTS,
  MAX_TRACK_VALUES,
  parseInstant,
  rateLimitHeaders,
  TRACK_PATH,
} from '../../protocol/index.ts';
import {
  bannersTrackAnswer,
  bannersTrackBody,
  bannersTrackRequest,
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
import type { BannerIds, BannerIdsOf } from '../campaigns/banner-id.ts';
import { priorityOrder } from '../campaigns/campaign-order.ts';
import { findHoldoutOfEvent } from '../campaigns/holdout.ts';
import { schemaReader } from '../http/body.ts';
import { HttpError } from '../http/http-request.ts';
import type { NewBannerEvent } from '../profiles/events.ts';
import { createKeyQuota } from '../profiles/profile.ts';
import { clickAction } from '../users/click-effects.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** An event that is sound. */
interface JudgedEvent {
  /** As it is stored. */
  row: NewBannerEvent;
  /** Whether its banner was answered to this user. */
  isTheirs: boolean;
  index: number;
}

/** A clock that is wrong by years must not make days without end, each with rows of its own in the results. */
const MAX_LATE_MS = 400 * 24 * 60 * 60 * 1000;

/** The day by which the results count an event. One that cannot be is counted when it came. */
const dayOf = ({ localDays }: Workspace, timeMs: number, receivedAtMs: number): string =>
  localDays.of(timeMs > receivedAtMs - MAX_LATE_MS ? Math.min(timeMs, receivedAtMs) : receivedAtMs);

/** Its events are unjudged. */
type TrackContext = RouteContext<Omit<BannersTrackRequest, 'events'> & { events: unknown[] }>;

/** A header may have 16 KB, of which the patterns of bots would take milliseconds; what names a bot comes first. */
const MAX_USER_AGENT = 512;
/**
 * Whether a well-known bot sent the request. One that runs pages calls itself `Mozilla/5.0 (compatible; …`. The list of isbot also has
 * programs, such as Node's own `fetch` (`node`), by which a backend passes on the events of its pages, and headless browsers, which
 * most often run the host's own tests: neither is a bot here.
 */
const isFromBot = (userAgent: string): boolean =>
  userAgent.startsWith('Mozilla/') &&
  isbot(userAgent.slice(0, MAX_USER_AGENT).replace('HeadlessChrome', 'Chrome'));

/** A bad event, as the answer names it. */
interface Refused {
  type: string;
  index: number;
}

/** The event, or the first fault it has. */
const judge = (
  sent: unknown,
  index: number,
  ids: BannerIds,
  { workspace, body, now: receivedAtMs }: TrackContext,
  isBot: boolean,
): JudgedEvent | string => {
  const event = readBody(wireEvent, sent);
  if (typeof event === 'string') return event;
  const facts = ids.open(event.id);
  const timeMs = parseInstant(event.timestamp);
  if (!facts || timeMs === null) return EVENT_ERROR.invalidId;
  const { isTestSend, ...banner } = facts;
  const row: Omit<NewBannerEvent, 'holdoutId'> = {
    ...banner,
    // What a well-known bot sends is kept like a test send: in no result, and of no cap.
    isTestSend: isTestSend || isBot,
    appId: body.app_id,
    bannerId: event.id,
    eventType: event.event_type,
    timeMs,
    receivedAtMs,
    day: dayOf(workspace, timeMs, receivedAtMs),
  };
  const holdoutId = findHoldoutOfEvent(row, workspace, body.external_user_id);
  return { row: { ...row, holdoutId }, isTheirs: ids.isFor(event.id, body.external_user_id), index };
};

const judgeAll = (ids: BannerIds, context: TrackContext): { sound: JudgedEvent[]; refused: Refused[] } => {
  const sound: JudgedEvent[] = [];
  const refused: Refused[] = [];
  // Once a request, not once an event.
  const isBot = isFromBot(context.userAgent);
  for (const [index, event] of context.body.events.entries()) {
    const each = judge(event, index, ids, context, isBot);
    if (typeof each === 'string') refused.push({ type: each, index });
    else sound.push(each);
  }
  return { sound, refused };
};

/** Counts a user who is about to be made; throws a 429 where there are too many of them in this window. */
const takeNewUser = async ({ workspace, store, now }: RouteContext): Promise<void> => {
  const state = await store.consumeRateLimit(workspace.limits.new_users, now);
  if (state.allowed) return;
  throw new HttpError(429, ERROR_MESSAGES.overRateLimit, {
    headers: rateLimitHeaders('banners', state, now, true),
    why: `${ERROR_MESSAGES.overRateLimit}: more than ${state.limit} new users in the window of limits.new_users`,
  });
};

/** What clicks of these do to the user: of banners that were answered to this very user, and are no test sends. */
const clickEffects = (
  events: readonly JudgedEvent[],
  { workspace, now: nowMs }: RouteContext,
  externalId: string,
): ReturnType<typeof clickAction>[] => {
  const names = createKeyQuota();
  const { byId } = priorityOrder(workspace);
  return events.flatMap(({ row, isTheirs }) => {
    if (row.eventType !== 'click' || row.isTestSend || !isTheirs) return [];
    const campaign = byId.get(row.campaignId);
    const onClick = campaign?.variants.find(({ variantId }) => variantId === row.variantId)?.onClick;
    return onClick ? [clickAction(row, onClick, { workspace, externalId, names, nowMs })] : [];
  });
};

/** Stores events with what their clicks do. False, and nothing is stored, where nobody knows the user and `mayMake` is false. */
const record = (
  events: readonly JudgedEvent[],
  context: TrackContext,
  mayMake: boolean,
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
      if (!users.recordBannerEvents(externalId, rows, now, mayMake)) return false;
      for (const take of effects) take(users);
      return true;
    },
  });
};

export const bannersTrack = (bannerIdsOf: BannerIdsOf) =>
  defineRoute({
    path: TRACK_PATH,
    permission: 'banners.track',
    errors: 'track',
    limit: 'banners_track',
    body: browserBody(schemaReader(bannersTrackBody, bannersTrackRequest), {
      maxBytes: MAX_TRACK_BODY_BYTES,
      maxValues: MAX_TRACK_VALUES,
    }),
    response: { status: 202, schema: bannersTrackAnswer },
    writes: true,
    operation: {
      id: 'trackBanners',
      tag: 'Banners',
      summary: 'Record impressions, clicks and dismissals of banners',
      description: `Each event is judged alone; those that were skipped are named in \`errors\` by their index. Repeats of the same user, banner, type and instant are counted and stored once. An \`id\` is one that a sync returned for this user. At most ${MAX_TRACK_EVENTS.toLocaleString('en-US')} events.`,
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
        'A member is missing or not valid, no event was valid, or the body is no JSON or too large.',
      notFound: 'Banners are not enabled in this workspace.',
    },
    handler: async (context) => {
      const { workspace, body, metrics } = context;
      assertKnownApp(workspace, body.app_id);
      const { sound, refused } = judgeAll(await bannerIdsOf(workspace.workspaceId), context);
      const isKnown = sound.length > 0 && (await record(sound, context, false));
      // A client key must not make users up: of a user whom nobody knows only those IDs count that a sync has answered to them.
      const events = isKnown ? sound : sound.filter(({ isTheirs }) => isTheirs);
      const strange = isKnown ? [] : sound.filter(({ isTheirs }) => !isTheirs);
      const errors = [
        ...refused,
        ...strange.map(({ index }) => ({ type: EVENT_ERROR.invalidId, index })),
      ].sort((one, other) => one.index - other.index);
      for (const { type } of errors) metrics.error(type);
      if (events.length === 0)
        throw new HttpError(400, ERROR_MESSAGES.noValidEvents, { members: { errors } });
      if (!isKnown) {
        await takeNewUser(context);
        await record(events, context, true);
      }
      metrics.objects('banner_events', events.length);
      return {
        body: { events_processed: events.length, message: 'success', ...(errors.length > 0 && { errors }) },
      };
    },
  });
