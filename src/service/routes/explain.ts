import {
  EXPLAIN_PATH,
  type ExplainRequest,
  MAX_BODY_BYTES,
  MAX_PLACEMENTS,
  MAX_PROFILE_VALUES,
  notValid,
  required,
} from '../../protocol/index.ts';
import { explainRequest, explainResult } from '../../protocol/schemas/index.ts';
import { assertKnownApp, defineRoute, serverBody } from '../api/route.ts';
import type { GetBannerIds } from '../campaigns/banner-id.ts';
import { impressionsSince } from '../campaigns/frequency.ts';
import { explain } from '../explain/explain.ts';
import { schemaReader } from '../http/body.ts';
import { HttpError } from '../http/http-request.ts';
import type { Log } from '../log.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** Returns the options of a request. Defaults: the only app, any version, every placement of the campaigns. */
const toQuestion = (body: ExplainRequest, { appIds, campaigns }: Workspace) => {
  const [onlyApp, otherApp] = appIds;
  const appId = body.app_id ?? (otherApp === undefined ? onlyApp : undefined);
  if (appId === undefined) throw new HttpError(400, required('app_id'));
  const placementIds = body.placements ?? [
    ...new Set(campaigns.flatMap(({ placements }) => [...placements])),
  ];
  if (placementIds.length === 0) throw new HttpError(400, notValid('placements'));
  return {
    externalUserId: body.external_user_id,
    appId,
    appVersion: body.app_version ?? 'any',
    placementIds: placementIds.slice(0, MAX_PLACEMENTS),
    deviceId: body.device_id,
  };
};

/** Explains a user's banners. For server keys only, because the response contains user attributes and drafts. */
export const explainRoute = (getBannerIds: GetBannerIds, log: Log) =>
  defineRoute({
    path: EXPLAIN_PATH,
    permission: 'campaigns.explain',
    limit: 'users_other',
    body: serverBody(schemaReader(explainRequest), {
      maxBytes: MAX_BODY_BYTES,
      maxValues: MAX_PROFILE_VALUES,
    }),
    response: { status: 200, schema: explainResult },
    operation: {
      id: 'explain',
      tag: 'Campaigns',
      summary: 'Explain targeting decisions',
      description:
        'Evaluates as a sync does, and lists the campaigns of each placement in order, with the first check that failed. Stores nothing. The response contains user data and drafts.',
      example: { external_user_id: 'u-771', placements: ['home_hero'] },
      badRequest: 'A member is missing or not valid.',
    },
    handler: async ({ workspace, store, body, now, metrics, acceptLanguage }) => {
      const question = toQuestion(body, workspace);
      assertKnownApp(workspace, question.appId);
      const ids = await getBannerIds(workspace.workspaceId);
      const since = impressionsSince(workspace, now);
      const user = await store.loadTargetingData(workspace.workspaceId, question.externalUserId, since);
      metrics.objects('placements', question.placementIds.length);
      return {
        body: {
          placements: explain({ ...question, acceptLanguage, workspace, user, now, ids, log }),
          has_profile: user.profile !== null,
          message: 'success',
        },
      };
    },
  });
