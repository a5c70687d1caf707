import { EXPLAIN_PATH, isPresent, MAX_BODY_BYTES, MAX_PROFILE_VALUES } from '../../protocol/index.ts';
import { explainAnswer, explainRequest } from '../../protocol/schemas/index.ts';
import type { BannerIdsOf } from '../campaigns/banner-id.ts';
import { impressionsSince } from '../campaigns/frequency.ts';
import { explain } from '../explain/explain.ts';
import type { Log } from '../log.ts';
import type { Route } from '../route.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { type Members, membersOf } from './banner-envelope.ts';
import { questionOf } from './sync-request.ts';

/** Fills in what the request may leave out: the only app, any version, every placement of the campaigns. */
const completed = (members: Members, { appIds, campaigns }: Workspace): Members => {
  const [onlyApp, otherApp] = appIds;
  const defaults: Members = {
    app_version: 'any',
    placements: [...new Set(campaigns.flatMap(({ placements }) => [...placements]))],
    ...(otherApp === undefined && { app_id: onlyApp }),
  };
  const sent = Object.entries(members).filter(([, value]) => isPresent(value));
  return { ...defaults, ...Object.fromEntries(sent) };
};

/** Explains a user's banners. For server keys alone: the answer holds attributes of the user, and drafts. */
export const explainRoute = (bannerIdsOf: BannerIdsOf, log: Log): Route => ({
  method: 'POST',
  path: EXPLAIN_PATH,
  permission: 'campaigns.explain',
  errors: 'general',
  rate: 'general',
  limit: 'users_other',
  maxBodyBytes: MAX_BODY_BYTES,
  maxValues: MAX_PROFILE_VALUES,
  tooLarge: 413,
  operation: {
    id: 'explain',
    tag: 'Campaigns',
    summary: 'Ask why a user gets what they get',
    description:
      'Decides as a sync does, and names every campaign of each placement, in the order in which they are considered, with the first reason it was passed over. Stores nothing. The answer holds what is known of the user, and drafts.',
    request: explainRequest,
    example: { external_user_id: 'u-771', placements: ['home_hero'] },
    success: 200,
    answer: explainAnswer,
    badRequest: 'A member is missing or not valid.',
  },
  answer: async ({ workspace, store, body, now, metrics, acceptLanguage }) => {
    const asked = questionOf(completed(membersOf(body), workspace), workspace);
    const ids = await bannerIdsOf(workspace.workspaceId);
    const since = impressionsSince(workspace, now);
    const user = await store.bannerUser(workspace.workspaceId, asked.externalUserId, since);
    metrics.objects('placements', asked.placementIds.length);
    return {
      status: 200,
      body: {
        placements: explain({ ...asked, acceptLanguage, workspace, user, now, ids, log }),
        has_profile: user.profile !== null,
        message: 'success',
      },
    };
  },
});
