import { timingSafeEqual } from 'node:crypto';
import { WorkspaceError } from './problems.ts';
import type { ApiKey, Workspace } from './workspace.ts';

export interface KeyHolder {
  workspace: Workspace;
  key: ApiKey;
}

/** All workspaces at one moment. A reload makes a new one; a request keeps the one it began with. */
export interface Registry {
  workspaces: readonly Workspace[];
  /** Who holds the key of this SHA-256; compared in constant time. */
  holderOf(hash: Uint8Array): KeyHolder | undefined;
}

/** The first bytes of a hash choose a handful of candidates: they give nothing of a key away, and the rest is compared whole. */
const bucketOf = (hash: Uint8Array): number =>
  (((hash[0] ?? 0) << 16) | ((hash[1] ?? 0) << 8) | (hash[2] ?? 0)) >>> 0;

/** Throws a `WorkspaceError` where two workspaces share an ID or a key. */
export const createRegistry = (sources: readonly { workspace: Workspace; source: string }[]): Registry => {
  const buckets = new Map<number, KeyHolder[]>();
  const seen = new Map<string, string>();
  const holderOf = (hash: Uint8Array): KeyHolder | undefined => {
    let found: KeyHolder | undefined;
    for (const holder of buckets.get(bucketOf(hash)) ?? []) {
      if (timingSafeEqual(holder.key.hash, hash)) found = holder;
    }
    return found;
  };
  for (const { workspace, source } of sources) {
    const other = seen.get(workspace.workspaceId);
    if (other !== undefined) {
      throw new WorkspaceError(source, [
        `workspace_id: expected an ID of its own, got ${JSON.stringify(workspace.workspaceId)} as in ${other}`,
      ]);
    }
    seen.set(workspace.workspaceId, source);
    for (const [index, key] of workspace.apiKeys.entries()) {
      const holder = holderOf(key.hash);
      if (holder) {
        throw new WorkspaceError(source, [
          `api_keys[${index}]: expected a key of its own, got the one of workspace ${JSON.stringify(holder.workspace.workspaceId)}`,
        ]);
      }
      const bucket = bucketOf(key.hash);
      buckets.set(bucket, [...(buckets.get(bucket) ?? []), { workspace, key }]);
    }
  }
  return { workspaces: sources.map(({ workspace }) => workspace), holderOf };
};
