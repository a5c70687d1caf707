import type { Log } from '../log.ts';
import type { BannerUser } from '../store/store.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { BannerIds } from './banner-id.ts';
import type { Trace } from './trace.ts';
import type { LogUnfilled } from './unfilled.ts';

/** Which banner has each placement for this user, at this moment? */
export interface Question {
  workspace: Workspace;
  externalUserId: string;
  user: BannerUser;
  appId: string;
  appVersion: string;
  deviceId: string | undefined;
  placementIds: readonly string[];
  /** Unix milliseconds. */
  now: number;
  ids: BannerIds;
  log: Log;
  logUnfilled: LogUnfilled;
  /** Follows the decision. Without one, campaigns that cannot be for this user are not looked at. */
  trace?: Trace;
}
