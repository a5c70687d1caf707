import {
  type BannerEnvelope,
  EVENT_ERROR,
  FATAL,
  MAX_TRACK_BODY_BYTES,
  MAX_TRACK_VALUES,
  readBannerEvent,
  readTrackRequest,
  TRACK_PATH,
  type TrackRequestMembers,
} from '../../protocol/index.ts';
import type { BannerIds } from '../campaigns/banner-id.ts';
import type { BannerIdsOf } from '../campaigns/workspace-banner-ids.ts';
import { HttpError } from '../http-error.ts';
import type { NewBannerEvent } from '../profiles/banner-event.ts';
import type { Route, RouteContext } from '../route.ts';

/** The event as it is stored, or the first fault it has. */
const judge = (
  event: unknown,
  envelope: BannerEnvelope,
  ids: BannerIds,
  receivedAtMs: number,
): NewBannerEvent | string => {
  const read = readBannerEvent(event);
  if (typeof read === 'string') return read;
  const { id, eventType, timestampMs } = read;
  const facts = ids.open(id);
  if (!facts) return EVENT_ERROR.invalidId;
  return {
    appId: envelope.app_id,
    bannerId: id,
    campaignId: facts.campaignId,
    variantId: facts.variantId,
    placementId: facts.placementId,
    isControl: facts.isControl,
    isTestSend: facts.isTestSend,
    round: facts.round,
    eventType,
    timeMs: timestampMs,
    receivedAtMs,
  };
};

interface Judged {
  rows: NewBannerEvent[];
  /** The bad ones, as the answer names them. */
  errors: { type: string; index: number }[];
}

const judgeAll = (request: TrackRequestMembers, ids: BannerIds, { now, metrics }: RouteContext): Judged => {
  const judged: Judged = { rows: [], errors: [] };
  for (const [index, event] of request.events.entries()) {
    const row = judge(event, request, ids, now);
    if (typeof row !== 'string') judged.rows.push(row);
    else {
      judged.errors.push({ type: row, index });
      metrics.error(row);
    }
  }
  return judged;
};

export const bannersTrack = (bannerIdsOf: BannerIdsOf): Route => ({
  method: 'POST',
  path: TRACK_PATH,
  permission: 'banners.track',
  errors: 'track',
  rate: 'banners',
  limit: 'banners_track',
  maxBodyBytes: MAX_TRACK_BODY_BYTES,
  maxValues: MAX_TRACK_VALUES,
  tooLarge: 400,
  crossOrigin: true,
  answer: async (context) => {
    const { workspace, store, body, now, metrics } = context;
    const request = readTrackRequest(body, (appId) => workspace.appIds.has(appId));
    if (typeof request === 'string') throw new HttpError(400, request);
    const ids = await bannerIdsOf(workspace.workspaceId);
    const { rows, errors } = judgeAll(request, ids, context);
    if (rows.length === 0) throw new HttpError(400, FATAL.noValidEvents, { members: { errors } });
    const externalId = request.external_user_id;
    await store.write({
      workspaceId: workspace.workspaceId,
      lookups: [{ by: 'external_id', value: externalId }],
      nowMs: now,
      apply: (users) => users.recordBannerEvents(externalId, rows, now),
    });
    metrics.objects('banner_events', rows.length);
    return {
      status: 202,
      body: { events_processed: rows.length, message: 'success', ...(errors.length > 0 && { errors }) },
    };
  },
});
