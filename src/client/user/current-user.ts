import { MAX_EXTERNAL_USER_ID_BYTES } from '../../protocol/index.ts';
import type { BannerCache } from '../banners/banner-cache.ts';
import type { Consent } from '../consent/consent.ts';
import type { LateChunk } from '../late-chunk.ts';
import type { LateClient } from '../late-client.ts';
import type { FailureKind } from '../notices.ts';
import type { Settings } from '../options/read-options.ts';
import { forgetLocal } from '../platform/forget-local.ts';

/** The visitor of this browser profile, as far as the first paint can tell: in localStorage, which answers before it. */
export const createKnownVisitor = ({ visitors, appId, endpoint }: Settings) => {
  const storageKey = `placard-visitor:${appId}@${endpoint}`;
  return {
    storageKey,
    forget: () => forgetLocal(storageKey),
    id(): string | null {
      try {
        const kept = visitors ? localStorage.getItem(storageKey) : null;
        // With a user behind it the visitor is that user's by now.
        return kept?.includes(' ') ? null : kept;
      } catch {
        // Blocked storage knows no visitor.
        return null;
      }
    },
  };
};

export type KnownVisitor = ReturnType<typeof createKnownVisitor>;

/** An ID comes from the host's data, so a wrong one is a notice and not an exception. */
const isUsable = (userId: unknown): userId is string | null =>
  userId === null ||
  (typeof userId === 'string' && userId !== '' && new Blob([userId]).size <= MAX_EXTERNAL_USER_ID_BYTES);

/** The cache and the session of the present user are open while there is consent. */
export const createCurrentUser = (
  initial: string | null,
  visitor: KnownVisitor,
  cache: BannerCache,
  late: LateChunk<LateClient>,
  consent: Consent,
  forgetStored: () => Promise<void>,
  fail: (kind: FailureKind, message: string) => void,
) => {
  const usable = (userId: string | null): string | null => {
    if (isUsable(userId)) return userId;
    // In a moment: while the client is created no listener can have subscribed.
    queueMicrotask(() => fail('config', `A user ID is a string of 1 to ${MAX_EXTERNAL_USER_ID_BYTES} bytes`));
    return null;
  };
  let current = usable(initial);

  const user = {
    signedIn: () => current,
    id: () => current ?? (consent.mayWrite() ? visitor.id() : null),
    async openCache() {
      if (consent.mayAct()) await cache.open(user.id());
    },
    startSession: (isSwitch = false): Promise<void> =>
      late.run((client) => client.startSession(user, isSwitch)),
    async open(isSwitch?: boolean): Promise<void> {
      await user.openCache();
      await user.startSession(isSwitch);
    },
    /** The user has agreed: what is in memory meets what is stored. */
    async keep(): Promise<void> {
      await cache.change(() => undefined);
      await user.startSession(true);
    },
    close(): Promise<void> {
      late.current()?.forgetUser();
      cache.close();
      return forgetStored();
    },
    async change(userId: string | null): Promise<void> {
      const next = usable(userId);
      if (next === current) return;
      current = next;
      late.current()?.forgetUser();
      await user.open(true);
    },
  };
  return user;
};
