import type { Store } from '../store/store.ts';
import { giveExternalId } from './identify.ts';

/**
 * A visitor without an account has signed in: the visitor's profile becomes the user's, by the rules of
 * `/users/identify`, and so does what they saw, clicked and dismissed. After that there is no such visitor, so the same request again changes nothing.
 */
export const joinVisitor = async (input: {
  workspaceId: string;
  store: Store;
  visitorId: string;
  userId: string;
  nowMs: number;
}): Promise<void> => {
  const { workspaceId, store, visitorId, userId, nowMs } = input;
  const visitorKey = { by: 'external_id' as const, value: visitorId };
  const { profile, campaigns } = await store.bannerUser(workspaceId, visitorId);
  if (!profile && campaigns.length === 0) return;
  await store.write({
    workspaceId,
    lookups: [visitorKey, { by: 'external_id', value: userId }],
    nowMs,
    apply(users) {
      // A visitor who has only seen banners has rows and no profile: the one that is made takes the rows over.
      const visitor = users.find(visitorKey)[0] ?? users.create({ externalId: visitorId }, nowMs);
      giveExternalId(users, visitor, userId, nowMs);
    },
  });
};
