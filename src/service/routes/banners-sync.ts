import { MAX_BODY_BYTES, MAX_SYNC_VALUES, readSyncRequest, SYNC_PATH } from '../../protocol/index.ts';
import { decide } from '../campaigns/decide.ts';
import { createTellUnfilled } from '../campaigns/unfilled.ts';
import type { BannerIdsOf } from '../campaigns/workspace-banner-ids.ts';
import { HttpError } from '../http-error.ts';
import type { Log } from '../log.ts';
import type { Route } from '../route.ts';

export const bannersSync = (bannerIdsOf: BannerIdsOf, log: Log): Route => {
  const tellUnfilled = createTellUnfilled(log);
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
    answer: async ({ workspace, store, body, now, tell }) => {
      const request = readSyncRequest(body, (appId) => workspace.appIds.has(appId));
      if (typeof request === 'string') throw new HttpError(400, request);
      const { external_user_id: externalUserId, placements: placementIds } = request;
      const ids = await bannerIdsOf(workspace.workspaceId);
      const user = await store.bannerUser(workspace.workspaceId, externalUserId);
      const banners = decide({
        workspace,
        externalUserId,
        user,
        appId: request.app_id,
        appVersion: request.app_version,
        deviceId: request.device_id,
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
