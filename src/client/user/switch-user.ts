import type { BannerCache } from '../banners/banner-cache.ts';
import type { Consent } from '../consent/consent.ts';
import type { LateChunk } from '../late-chunk.ts';
import type { LateClient } from '../late-client.ts';
import type { CurrentUser } from './current-user.ts';

/** Opens the cache and the session of the current user, as long as there is consent, and closes those of the former one. */
export const createUserSwitch = (
  user: CurrentUser,
  cache: BannerCache,
  late: LateChunk<LateClient>,
  consent: Consent,
  forgetStored: () => Promise<void>,
) => {
  const openCache = async (): Promise<void> => {
    if (consent.mayAct()) await cache.open();
  };
  const startSession = (isSwitch: boolean): Promise<void> =>
    late.runOr(
      (client) => client.startSession(isSwitch),
      async () => {
        if (isSwitch) await forgetStored();
      },
    );

  const open = async (isSwitch: boolean): Promise<void> => {
    await openCache();
    await startSession(isSwitch);
  };
  /** The user has agreed: what is in memory meets what is stored. */
  const keep = async (): Promise<void> => {
    await cache.change(() => undefined);
    await startSession(true);
  };
  const close = (): Promise<void> => {
    late.current()?.forgetUser();
    void cache.open();
    return forgetStored();
  };

  return {
    openCache,
    startSession,
    /** The consent has changed. `isFirst`: the user had not chosen before. */
    follow: (isFirst: boolean): Promise<void> =>
      consent.mayAct() ? (isFirst ? keep() : open(false)) : close(),
    async signIn(userId: string | null): Promise<void> {
      if (!user.signIn(userId)) return;
      late.current()?.forgetUser();
      await open(true);
    },
  };
};
