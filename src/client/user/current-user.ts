import { MAX_EXTERNAL_USER_ID_BYTES } from '../../protocol/index.ts';
import type { Consent } from '../consent/consent.ts';
import type { Fail } from '../notices.ts';
import type { Settings } from '../options/options.ts';
import { removeLocal } from '../platform/remove-local.ts';

/** Returns whether a user ID is valid. An invalid ID causes a notice and no exception, because it comes from the host's data. */
const isUsable = (userId: unknown): userId is string | null =>
  userId === null ||
  (typeof userId === 'string' && userId !== '' && new Blob([userId]).size <= MAX_EXTERNAL_USER_ID_BYTES);

/** Creates the current user, which all parts share. */
export const createCurrentUser = (
  { use, appId, endpoint, userId: initial }: Settings,
  consent: Consent,
  fail: Fail,
) => {
  /** Key of the visitor in localStorage, which is available before the first paint. */
  const visitorKey = `placard-visitor:${appId}@${endpoint}`;
  /** Key of the tab's name in sessionStorage, which survives a reload. */
  const tabKey = 'placard-tab';

  const usable = (userId: string | null): string | null => {
    if (isUsable(userId)) return userId;
    // Deferred, because no listener can subscribe while the client is being created.
    queueMicrotask(() =>
      fail('config', `A user ID must be a string of 1 to ${MAX_EXTERNAL_USER_ID_BYTES} bytes`),
    );
    return null;
  };
  let signedIn = usable(initial);
  let id: string | null = null;

  const readVisitor = (): string | null => {
    try {
      const kept = use.visitors && consent.mayWrite() ? localStorage.getItem(visitorKey) : null;
      // An entry with a user means that the visitor already belongs to that user.
      return kept?.includes(' ') ? null : kept;
    } catch {
      // Storage is blocked, so there is no visitor.
      return null;
    }
  };

  return {
    visitorKey,
    tabKey,
    signedIn: () => signedIn,
    /** Returns the ID of the signed-in user, or else of the visitor; `null` if neither, or without consent. */
    id: () => id,
    /** Signs a user in or out. Returns `false` if nothing changed. */
    signIn(userId: string | null): boolean {
      const before = signedIn;
      signedIn = usable(userId);
      return signedIn !== before;
    },
    /** Updates the current user. Returns whether it changed; the caller must then open the cache at once. */
    update(): boolean {
      const before = id;
      id = consent.mayAct() ? (signedIn ?? readVisitor()) : null;
      return id !== before;
    },
    /** Removes the visitor of the browser profile and the name of the tab. */
    deleteNames: () => [visitorKey, tabKey].forEach(removeLocal),
  };
};

export type CurrentUser = ReturnType<typeof createCurrentUser>;
