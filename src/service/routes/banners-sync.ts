import * as z from 'zod';
import { MAX_PLACEMENTS, MAX_SYNC_BODY_BYTES, MAX_SYNC_VALUES, SYNC_PATH } from '../../protocol/index.ts';
import { syncAnswer, syncRequest } from '../../protocol/schemas/index.ts';
import type { BannerIdsOf } from '../campaigns/banner-id.ts';
import { decide } from '../campaigns/decide.ts';
import { impressionsSince } from '../campaigns/frequency.ts';
import { createUnfilledLog } from '../campaigns/unfilled.ts';
import type { Log } from '../log.ts';
import type { Route } from '../route.ts';
import { ENVELOPE_EXAMPLE, userToken } from './banner-envelope.ts';
import { questionOf } from './sync-request.ts';
import { createUnknownPlacements } from './unknown-placements.ts';

export const bannersSync = (bannerIdsOf: BannerIdsOf, log: Log): Route => {
  const logUnfilled = createUnfilledLog(log);
  const logUnknown = createUnknownPlacements(log);
  return {
    method: 'POST',
    path: SYNC_PATH,
    permission: 'banners.sync',
    errors: 'sync',
    rate: 'banners',
    limit: 'banners_sync',
    maxBodyBytes: MAX_SYNC_BODY_BYTES,
    maxValues: MAX_SYNC_VALUES,
    tooLarge: 400,
    crossOrigin: true,
    operation: {
      id: 'syncBanners',
      tag: 'Banners',
      summary: 'Ask which banner each placement has for a user',
      description: `Returns a banner or \`null\` for each of the first ${MAX_PLACEMENTS} different placements. Eligibility and texts are decided anew each time.`,
      request: z.object({ ...syncRequest.shape, user_token: userToken }),
      example: { ...ENVELOPE_EXAMPLE, placements: ['home_hero'] },
      success: 200,
      answer: syncAnswer,
      badRequest: 'A member is missing or not valid, or the body is no JSON or too large.',
      notFound: 'Banners are not enabled in this workspace.',
    },
    answer: async (context) => {
      const { workspace, store, body, now, metrics, acceptLanguage } = context;
      const asked = questionOf(body, workspace);
      logUnknown(context, asked.placementIds);
      const ids = await bannerIdsOf(workspace.workspaceId);
      const since = impressionsSince(workspace, now);
      const user = await store.bannerUser(workspace.workspaceId, asked.externalUserId, since);
      const banners = decide({ ...asked, acceptLanguage, workspace, user, now, ids, log, logUnfilled });
      metrics.objects('placements', asked.placementIds.length);
      return { status: 200, text: `{"banners":${banners}}` };
    },
  };
};
