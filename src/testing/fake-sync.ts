import {
  type EventType,
  errorBody,
  fitsBytes,
  isPresent,
  isRecord,
  isStorableText,
  MAX_BANNER_DEVICE_ID_BYTES,
  MAX_PLACEMENTS,
  notValid,
  readEnvelope,
  required,
  type WireBanner,
} from '../protocol/index.ts';
import type { FakeAnswer } from './fake-answer.ts';
import type { BannerSource } from './fake-banners.ts';

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && isStorableText(value);

/** `banners/sync`: the first ten distinct placements are answered; whom a user has dismissed stays away. */
export const answerSync = (
  body: unknown,
  appIds: readonly string[] | undefined,
  sources: ReadonlyMap<string, BannerSource>,
  isDismissed: (userId: string, banner: WireBanner) => boolean,
): FakeAnswer => {
  const refuse = (text: string) => ({ status: 400, body: errorBody('sync', text) });
  if (!isRecord(body)) return refuse('Request body must be a JSON object');
  const envelope = readEnvelope(body, (appId) => appIds?.includes(appId) ?? true);
  if (typeof envelope === 'string') return refuse(envelope);
  const { placements, device_id } = body;
  if (placements === undefined || placements === null) return refuse(required('placements'));
  if (!Array.isArray(placements) || placements.length === 0 || !placements.every(isText)) {
    return refuse(notValid('placements'));
  }
  // Absent, `null` and empty are the same: no device is known.
  const hasDevice = isPresent(device_id);
  if (hasDevice && !(isText(device_id) && fitsBytes(device_id, MAX_BANNER_DEVICE_ID_BYTES))) {
    return refuse(notValid('device_id'));
  }
  const request = { ...envelope, placements, ...(hasDevice && { device_id: device_id as string }) };
  const banners: Record<string, WireBanner | null> = {};
  for (const placementId of [...new Set(placements)].slice(0, MAX_PLACEMENTS)) {
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
    clear: (): void => seen.clear(),
  };
};
