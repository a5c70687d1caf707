import { workspaceBannerIds } from '../campaigns/workspace-banner-ids.ts';
import type { Log } from '../log.ts';
import type { Route } from '../route.ts';
import type { Store } from '../store/store.ts';
import { bannersSync } from './banners-sync.ts';
import { bannersTrack } from './banners-track.ts';
import { cdiIntegrations } from './cdi-integrations.ts';
import { usersTrack } from './users-track.ts';
import { usersTrackBulk } from './users-track-bulk.ts';

/** Every row of the API. */
export const createRoutes = ({ store, log }: { store: Store; log: Log }): Route[] => {
  const bannerIdsOf = workspaceBannerIds(store);
  return [
    cdiIntegrations,
    usersTrack,
    usersTrackBulk,
    bannersSync(bannerIdsOf, log),
    bannersTrack(bannerIdsOf),
  ];
};
