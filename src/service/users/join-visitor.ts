import type { Store } from '../store/store.ts';
import { giveExternalId } from './identify.ts';

/**
 * A visitor without an account has signed in: the visitor's profile becomes the user's, by the rules of
 * `/users/identify`. After that there is no such visitor, so the same request again changes nothing.
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
  await store.writeUsers({
    workspaceId,
    lookups: [visitorKey, { by: 'external_id', value: userId }],
    nowMs,
    apply(users) {
      const [visitor] = users.find(visitorKey);
      if (visitor) giveExternalId(users, visitor, userId, nowMs);
    },
  });
};
