import type { Banner } from '../banner.ts';
import type { Settings } from '../first/read-options.ts';
import { isDismissed } from './dismissals.ts';
import type { UserRecord } from './user-record.ts';

/** What a server has requested, as changes of a user's record: for its own user what a sync's answer would change. */
export const createBootstrap = ({ bootstrap, appId, platform }: Settings) => {
  const startedAtMs = platform.now();

  const fill = (record: UserRecord): void => {
    // By the server's clock; a time to come would keep the browser's own answers out.
    const askedAtMs = Math.min(bootstrap!.askedAtMs - record.clockSkewMs, startedAtMs);
    for (const [placementId, banner] of Object.entries<Banner | null>(bootstrap!.banners ?? {})) {
      const known = record.banners.get(placementId);
      if (known && known.askedAtMs > askedAtMs) continue;
      record.banners.set(placementId, {
        banner: banner && isDismissed(record, banner) ? null : banner,
        askedAtMs,
      });
    }
  };

  return (userId: string | null) =>
    bootstrap?.version === 1 && bootstrap.appId === appId && bootstrap.userId === userId ? [fill] : [];
};
