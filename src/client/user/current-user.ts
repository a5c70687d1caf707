import { MAX_EXTERNAL_USER_ID_BYTES } from '../../protocol/index.ts';
import type { Consent } from '../consent/consent.ts';
import type { Fail } from '../notices.ts';
import type { Settings } from '../options/options.ts';
import { forgetLocal } from '../platform/forget-local.ts';

/** An ID comes from the host's data, so a wrong one is a notice and not an exception. */
const isUsable = (userId: unknown): userId is string | null =>
  userId === null ||
  (typeof userId === 'string' && userId !== '' && new Blob([userId]).size <= MAX_EXTERNAL_USER_ID_BYTES);

/** Whom the client works for: one object that all parts ask. */
export const createCurrentUser = (
  { use, appId, endpoint, userId: initial }: Settings,
  consent: Consent,
  fail: Fail,
) => {
  /** Where the profile keeps its visitor: in localStorage, which answers before the first paint. */
  const visitorKey = `placard-visitor:${appId}@${endpoint}`;
  /** Where the tab keeps a name that outlives a reload: in sessionStorage. */
  const tabKey = 'placard-tab';

  const usable = (userId: string | null): string | null => {
    if (isUsable(userId)) return userId;
    // In a moment: while the client is created no listener can have subscribed.
    queueMicrotask(() => fail('config', `A user ID is a string of 1 to ${MAX_EXTERNAL_USER_ID_BYTES} bytes`));
    return null;
  };
  let signedIn = usable(initial);
  let id: string | null = null;

  const readVisitor = (): string | null => {
    try {
      const kept = use.visitors && consent.mayWrite() ? localStorage.getItem(visitorKey) : null;
      // With a user behind it the visitor is that user's by now.
      return kept?.includes(' ') ? null : kept;
    } catch {
      // Blocked storage knows no visitor.
      return null;
    }
  };

  return {
    visitorKey,
    tabKey,
    /** The user who has signed in. */
    signedIn: () => signedIn,
    /** That user, or else the visitor; `null` for neither, and without consent. */
    id: () => id,
    /** The host signs a user in or out. False where that changes nothing. */
    signIn(userId: string | null): boolean {
      const before = signedIn;
      signedIn = usable(userId);
      return signedIn !== before;
    },
    /** Looks who is here by now. Returns whether it is someone else. The cache has to be opened for them at once. */
    look(): boolean {
      const before = id;
      id = consent.mayAct() ? (signedIn ?? readVisitor()) : null;
      return id !== before;
    },
    /** Removes the visitor of the profile and the name of the tab. */
    forgetNames: () => [visitorKey, tabKey].forEach(forgetLocal),
  };
};

export type CurrentUser = ReturnType<typeof createCurrentUser>;
