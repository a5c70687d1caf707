import { MAX_EXTERNAL_USER_ID_BYTES } from '../../protocol/index.ts';
import type { BannerCache } from '../banners/banner-cache.ts';
import type { LateClient } from '../late/late-client.ts';
import type { FailureKind } from '../notice.ts';
import type { KnownVisitor } from '../visitors/known-visitor.ts';
import type { Consent } from './consent.ts';
import type { LateChunk } from './late-chunk.ts';

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
