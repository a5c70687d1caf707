import type { Store } from '../store/store.ts';
import { type BannerIds, createBannerIds } from './banner-id.ts';

/** The banner IDs of a workspace, by its ID. */
export type BannerIdsOf = (workspaceId: string) => Promise<BannerIds>;

/** Asks the store for each workspace's secret once. */
export const workspaceBannerIds = (store: Store): BannerIdsOf => {
  const known = new Map<string, Promise<BannerIds>>();
  return (workspaceId) => {
    const ready = known.get(workspaceId);
    if (ready) return ready;
    const made = store.secret(workspaceId).then((secret) => createBannerIds(workspaceId, secret));
    known.set(workspaceId, made);
    // A store that was away for a moment is asked again.
    made.catch(() => known.delete(workspaceId));
    return made;
  };
};
