import { MAX_PLACEMENTS, MAX_SYNC_BODY_BYTES, MAX_SYNC_VALUES, SYNC_PATH } from '../../protocol/index.ts';
import { syncRequest, syncResponse } from '../../protocol/schemas/index.ts';
import {
  assertKnownApp,
  browserBody,
  defineRoute,
  ENVELOPE_EXAMPLE,
  type RouteContext,
} from '../api/route.ts';
import type { GetBannerIds } from '../campaigns/banner-id.ts';
import { impressionsSince } from '../campaigns/frequency.ts';
import { createRenderErrorLog } from '../campaigns/render-errors.ts';
import { selectBanners } from '../campaigns/select-banners.ts';
import { schemaReader } from '../http/body.ts';
import { createLogThrottle, type Log } from '../log.ts';
import { suggest } from '../suggest.ts';

/** Pattern of placement names. Other strings, such as a misplaced email address, are not logged. */
const NAME = /^[\w.:/-]{1,64}$/;

/** Creates a log of requested placements that the workspace does not have, each at most once a minute. */
const createUnknownPlacements = (log: Log) => {
  const shouldLog = createLogThrottle();

  return ({ workspace, key, now }: RouteContext, requested: readonly string[]): void => {
    const { workspaceId, placementIds } = workspace;
    for (const placement of requested) {
      if (placementIds.has(placement)) continue;
      const isName = NAME.test(placement);
      const cause = JSON.stringify([workspaceId, key.name, isName && placement]);
      if (!shouldLog(cause, now)) continue;
      const meant = suggest(placement, placementIds);
      log.warn(
        {
          workspace: workspaceId,
          key: key.name,
          placement: isName ? placement : '(invalid name)',
          ...(meant !== null && { nearest: meant }),
        },
        'unknown placement: not in the workspace file',
      );
    }
  };
};

export const bannersSync = (getBannerIds: GetBannerIds, log: Log) => {
  const logRenderError = createRenderErrorLog(log);
  const logUnknown = createUnknownPlacements(log);
  return defineRoute({
    path: SYNC_PATH,
    permission: 'banners.sync',
    errorFormat: 'sync',
    limit: 'banners_sync',
    body: browserBody(schemaReader(syncRequest), {
      maxBytes: MAX_SYNC_BODY_BYTES,
      maxValues: MAX_SYNC_VALUES,
    }),
    response: { status: 200, schema: syncResponse },
    operation: {
      id: 'syncBanners',
      tag: 'Banners',
      summary: 'Sync banners of a user',
      description: `Returns a banner or \`null\` for each of the first ${MAX_PLACEMENTS} different placements. Eligibility and texts are evaluated each time, unless \`release\` is still current.`,
      example: { ...ENVELOPE_EXAMPLE, placements: ['home_hero'] },
      badRequest: 'A member is missing or not valid, or the body is not JSON or too large.',
      notFound: 'Banners are not enabled in this workspace.',
    },
    handler: async (context) => {
      const { workspace, store, body, now, metrics, acceptLanguage } = context;
      const { external_user_id: externalUserId, app_id: appId, placements } = body;
      assertKnownApp(workspace, appId);
      const { release, bannerPollSeconds } = workspace;
      const version =
        bannerPollSeconds === null ? '' : `,"release":"${release}","poll_seconds":${bannerPollSeconds}`;
      if (version !== '' && body.release === release) return { text: `{"banners":{}${version}}` };
      logUnknown(context, placements);
      const ids = await getBannerIds(workspace.workspaceId);
      const isStopped = (bannerId: string): boolean => {
        const banner = ids.decode(bannerId);
        if (!banner || banner.isTestSend) return false;
        const campaign = workspace.campaigns.find(({ campaignId }) => campaignId === banner.campaignId);
        return campaign?.status !== 'active';
      };
      const stopped = body.shown?.filter(isStopped) ?? [];
      const since = impressionsSince(workspace, now);
      const user = await store.loadTargetingData(workspace.workspaceId, externalUserId, since);
      const banners = selectBanners({
        externalUserId,
        appId,
        appVersion: body.app_version,
        placementIds: placements,
        deviceId: body.device_id,
        acceptLanguage,
        workspace,
        user,
        now,
        ids,
        log,
        logRenderError,
      });
      metrics.objects('placements', placements.length);
      const ended = stopped.length === 0 ? '' : `,"stopped":${JSON.stringify(stopped)}`;
      return { text: `{"banners":${banners}${ended}${version}}` };
    },
  });
};
