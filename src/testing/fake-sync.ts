import {
  type EventType,
  errorBody,
  MAX_PLACEMENTS,
  notValid,
  required,
  syncRequest,
  type WireBanner,
} from '../protocol/index.ts';
import { type FakeAnswer, isRecord } from './fake-answer.ts';
import type { BannerSource } from './fake-banners.ts';

const REQUIRED = ['external_user_id', 'app_id', 'app_version', 'placements'] as const;

/** `banners/sync`: the first ten distinct placements are answered; whom a user has dismissed stays away. */
export const answerSync = (
  body: unknown,
  sources: ReadonlyMap<string, BannerSource>,
  isDismissed: (userId: string, banner: WireBanner) => boolean,
): FakeAnswer => {
  const refuse = (text: string) => ({ status: 400, body: errorBody('sync', text) });
  if (!isRecord(body)) return refuse('The request body must be an object');
  const missing = REQUIRED.find((name) => body[name] === undefined || body[name] === null);
  if (missing !== undefined) return refuse(required(missing));
  const { data: request, error } = syncRequest.safeParse(body);
  if (request === undefined) return refuse(notValid(String(error?.issues[0]?.path[0])));
  const banners: Record<string, WireBanner | null> = {};
  for (const placementId of [...new Set(request.placements)].slice(0, MAX_PLACEMENTS)) {
    const source = sources.get(placementId);
    const banner = (typeof source === 'function' ? source(request) : source) ?? null;
    banners[placementId] = banner && !isDismissed(request.external_user_id, banner) ? banner : null;
  }
  return { status: 200, body: { banners } };
};

/** Remembers dismissals; they count for a sync `lagMs` after they came, as in a service that works through a queue. */
export const createDismissals = (now: () => number, lagMs: number) => {
  const seen = new Map<string, number>();
  const key = (userId: string, bannerId: string) => JSON.stringify([userId, bannerId]);
  return {
    take(userId: string, events: { id: string; event_type: EventType }[]): void {
      for (const { id, event_type } of events) {
        if (event_type === 'dismiss' && !seen.has(key(userId, id))) seen.set(key(userId, id), now());
      }
    },
    has: (userId: string, banner: WireBanner): boolean =>
      now() - (seen.get(key(userId, banner.id)) ?? Number.POSITIVE_INFINITY) >= lagMs,
  };
};
