import type { Store } from '../../src/service/index.ts';
import type { NewBannerEvent } from '../../src/service/profiles/events.ts';

const NOW = Date.UTC(2026, 2, 1, 9, 0, 0);

/** An impression by default; its day is in UTC by default. */
export const aBannerEvent = (change: Partial<NewBannerEvent> = {}): NewBannerEvent => {
  const event = {
    appId: 'app',
    bannerId: 'bnr_1',
    campaignId: 'campaign',
    holdoutId: null,
    variantId: 'a',
    language: null,
    placementId: 'home_hero',
    isControl: false,
    isTestSend: false,
    round: 0,
    eventType: 'impression' as const,
    buttonId: null,
    timeMs: NOW,
    receivedAtMs: NOW + 5,
    ...change,
  };
  const day = new Date(Math.min(event.timeMs, event.receivedAtMs)).toISOString().slice(0, 10);
  return { day, ...event };
};

/** Stores events as a `banners/track` request does. */
export const recordBannerEvents = (
  store: Store,
  externalId: string,
  events: NewBannerEvent[],
  workspaceId = 'demo',
): Promise<boolean> =>
  store.write({
    workspaceId,
    lookups: [{ by: 'external_id', value: externalId }],
    nowMs: NOW,
    apply: (users) => users.recordBannerEvents(externalId, events, NOW, true),
  });
