import type { Store } from '../store/store.ts';
import { type BannerIds, createBannerIds } from './banner-id.ts';

/** The banner IDs of a workspace, by its ID. */
export type BannerIdsOf = (workspaceId: string) => Promise<BannerIds>;

/** Makes them from each workspace's secret, and anew where the store has another one. */
export const workspaceBannerIds = (store: Store): BannerIdsOf => {
  const known = new Map<string, { secret: string; ids: BannerIds }>();
  return async (workspaceId) => {
    const secret = await store.secret(workspaceId);
    let kept = known.get(workspaceId);
    if (kept?.secret !== secret) {
      kept = { secret, ids: createBannerIds(workspaceId, secret) };
      known.set(workspaceId, kept);
    }
    return kept.ids;
  };
};
