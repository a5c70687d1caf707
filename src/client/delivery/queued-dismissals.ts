import type { BannerEvent } from '../banner-event.ts';
import type { Store } from '../platform/store.ts';
import { readAll } from './read-all.ts';
import { bannerEvent, EVENT_RANGE, readEvent } from './records.ts';

/** What a user has sent away, as long as the service has not said that it knows. */
export const queuedDismissals = async (store: Store, userId: string): Promise<BannerEvent[]> =>
  (await readAll(store, EVENT_RANGE))
    .map(([, record]) => readEvent(record))
    .filter((event) => typeof event === 'object')
    .filter((event) => event.type === 'dismiss' && event.userId === userId)
    .map(bannerEvent);
