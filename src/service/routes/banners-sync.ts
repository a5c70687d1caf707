import {
  fitsBytes,
  isPresent,
  isStorableText,
  MAX_BANNER_DEVICE_ID_BYTES,
  MAX_BODY_BYTES,
  MAX_PLACEMENTS,
  MAX_SYNC_VALUES,
  SYNC_PATH,
} from '../../protocol/index.ts';
import { decide } from '../campaigns/decide.ts';
import { createTellUnfilled } from '../campaigns/unfilled.ts';
import type { BannerIdsOf } from '../campaigns/workspace-banner-ids.ts';
import type { Log } from '../log.ts';
import type { Route } from '../route.ts';
import { envelopeOf, invalid, type Members, membersOf, missing } from './banner-envelope.ts';
import { createUnknownPlacements } from './unknown-placements.ts';

/** The first ten different ones; the others are left out of the answer. */
const placementsOf = ({ placements }: Members): string[] => {
  if (placements === undefined || placements === null) throw missing('placements');
  if (!Array.isArray(placements) || placements.length === 0) throw invalid('placements');
  const sound = placements.every(
    (placement): placement is string =>
      typeof placement === 'string' && placement !== '' && isStorableText(placement),
  );
  if (!sound) throw invalid('placements');
  return [...new Set<string>(placements)].slice(0, MAX_PLACEMENTS);
};

/** Absent, `null` and empty are the same: no device is known. */
const deviceOf = ({ device_id }: Members): string | undefined => {
  if (!isPresent(device_id)) return undefined;
  if (typeof device_id !== 'string' || !isStorableText(device_id)) throw invalid('device_id');
  if (!fitsBytes(device_id, MAX_BANNER_DEVICE_ID_BYTES)) throw invalid('device_id');
  return device_id;
};

export const bannersSync = (bannerIdsOf: BannerIdsOf, log: Log): Route => {
  const tellUnfilled = createTellUnfilled(log);
  const logUnknown = createUnknownPlacements(log);
  return {
    method: 'POST',
    path: SYNC_PATH,
    permission: 'banners.sync',
    errors: 'sync',
    rate: 'banners',
    limit: 'banners_sync',
    maxBodyBytes: MAX_BODY_BYTES,
    maxValues: MAX_SYNC_VALUES,
    tooLarge: 400,
    crossOrigin: true,
    answer: async (context) => {
      const { workspace, store, body, now, tell } = context;
      const members = membersOf(body);
      const {
        external_user_id: externalUserId,
        app_id: appId,
        app_version: appVersion,
      } = envelopeOf(members, workspace);
      const placementIds = placementsOf(members);
      const deviceId = deviceOf(members);
      logUnknown(context, placementIds);
      const ids = await bannerIdsOf(workspace.workspaceId);
      const user = await store.bannerUser(workspace.workspaceId, externalUserId);
      const banners = decide({
        workspace,
        externalUserId,
        user,
        appId,
        appVersion,
        deviceId,
        placementIds,
        now,
        ids,
        log,
        tellUnfilled,
      });
      tell.objects('placements', placementIds.length);
      return { status: 200, text: `{"banners":${banners}}` };
    },
  };
};
