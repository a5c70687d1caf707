import type { Route } from '../api/route.ts';
import { createGetBannerIds } from '../campaigns/banner-id.ts';
import type { Log } from '../log.ts';
import type { MissingSelectors } from '../missing-selectors.ts';
import type { Store } from '../store/store.ts';
import { bannersSync } from './banners-sync.ts';
import { bannersTrack } from './banners-track.ts';
import {
  campaignTranslations,
  campaignTranslationsSource,
  updateCampaignTranslations,
} from './campaign-translations.ts';
import { cdiIntegrationSync, cdiIntegrations, cdiJobSyncStatus } from './cdi-integrations.ts';
import { explainRoute } from './explain.ts';
import { placements } from './placements.ts';
import { preview } from './preview.ts';
import { REPORTS } from './reports/index.ts';
import { usersAliasNew } from './users-alias-new.ts';
import { usersDelete } from './users-delete.ts';
import { usersExportIds } from './users-export-ids.ts';
import { usersIdentify } from './users-identify.ts';
import { usersMerge } from './users-merge.ts';
import { usersTrack, usersTrackBulk } from './users-track.ts';
import { visitorsJoin } from './visitors-join.ts';

interface RoutesOptions {
  store: Store;
  log: Log;
  missingSelectors: MissingSelectors;
}

/** Creates every route of the API. */
export const createRoutes = ({ store, log, missingSelectors }: RoutesOptions): Route[] => {
  const getBannerIds = createGetBannerIds(store);
  return [
    cdiIntegrations,
    cdiIntegrationSync,
    cdiJobSyncStatus,
    usersTrack,
    usersTrackBulk,
    usersIdentify,
    usersMerge,
    usersAliasNew,
    usersExportIds,
    usersDelete,
    ...REPORTS,
    campaignTranslations,
    campaignTranslationsSource,
    updateCampaignTranslations,
    bannersSync(getBannerIds, log),
    bannersTrack(getBannerIds),
    visitorsJoin,
    explainRoute(getBannerIds, log),
    preview(getBannerIds, store),
    placements(log, missingSelectors),
  ];
};
