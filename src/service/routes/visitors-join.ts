import * as z from 'zod/mini';
import {
  ERROR_MESSAGES,
  isPresent,
  isVisitorId,
  MAX_SYNC_BODY_BYTES,
  MAX_SYNC_VALUES,
  notValid,
  USER_TOKEN_MEMBER,
  VISITOR_JOIN_PATH,
} from '../../protocol/index.ts';
import { described, envelope, textMember } from '../../protocol/schemas/index.ts';
import { assertKnownApp, browserBody, defineRoute, ENVELOPE_EXAMPLE } from '../api/route.ts';
import { schemaReader } from '../http/body.ts';
import { HttpError } from '../http/http-request.ts';
import type { Store } from '../store/store.ts';
import { userTokenError } from '../user-tokens/user-tokens.ts';
import { assignExternalId } from '../users/identify.ts';

const joinRequest = z.object(
  {
    ...envelope,
    visitor_id: textMember('visitor_id', isVisitorId, {
      description: '`placard-visitor-` and a random UUID.',
    }),
  },
  { error: ERROR_MESSAGES.notAnObject },
);

/**
 * Merges the profile and the banner activity of an anonymous visitor into the signed-in user, by the rules of `/users/identify`.
 * The merge deletes the visitor, so repeating the request has no effect.
 */
const joinVisitor = async (input: {
  workspaceId: string;
  store: Store;
  visitorId: string;
  userId: string;
  nowMs: number;
}): Promise<void> => {
  const { workspaceId, store, visitorId, userId, nowMs } = input;
  const visitorKey = { by: 'external_id' as const, value: visitorId };
  if (!(await store.loadTargetingData(workspaceId, visitorId)).exists) return;
  await store.write({
    workspaceId,
    lookups: [visitorKey, { by: 'external_id', value: userId }],
    nowMs,
    apply(users) {
      // A visitor who had only banner events has rows but no profile, so a profile is created to own the rows.
      const visitor = users.find(visitorKey)[0] ?? users.create({ externalId: visitorId }, nowMs);
      assignExternalId(users, visitor, userId, nowMs);
    },
  });
};

/**
 * Joins a visitor with the signed-in user at the request of a page. The user is authenticated by the user token, if required,
 * which the pipeline has verified. The visitor is authenticated by an unguessable ID.
 */
export const visitorsJoin = defineRoute({
  path: VISITOR_JOIN_PATH,
  permission: 'banners.track',
  errorFormat: 'track',
  limit: 'banners_track',
  body: browserBody(schemaReader(joinRequest), { maxBytes: MAX_SYNC_BODY_BYTES, maxValues: MAX_SYNC_VALUES }),
  response: { status: 200, schema: z.object({ message: z.string().check(described('`success`')) }) },
  writes: true,
  operation: {
    id: 'joinVisitor',
    tag: 'Banners',
    summary: 'Merge an anonymous visitor into the signed-in user',
    description:
      'Merges the data of the visitor into the user, as `/users/identify` does. The user token proves the user, and the random ID the visitor. Idempotent.',
    example: { ...ENVELOPE_EXAMPLE, visitor_id: 'placard-visitor-1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed' },
    badRequest: 'A member is missing or not valid.',
    notFound: 'Banners are not enabled in this workspace.',
  },
  async handler({ workspace, store, body, now }) {
    const { external_user_id: userId, app_id: appId, visitor_id: visitorId } = body;
    assertKnownApp(workspace, appId);
    if (isVisitorId(userId) || workspace.blockedExternalIds.has(userId)) {
      throw new HttpError(400, notValid('external_user_id'));
    }
    if (!workspace.userTokens.has(appId)) throw new HttpError(403, 'The app takes no user tokens');
    if (!isPresent(body[USER_TOKEN_MEMBER])) throw userTokenError(appId, 'missing');
    await joinVisitor({ workspaceId: workspace.workspaceId, store, visitorId, userId, nowMs: now });
    return { body: { message: 'success' } };
  },
});
