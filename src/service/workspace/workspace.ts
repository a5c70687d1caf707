import { timingSafeEqual } from 'node:crypto';
import type { Insertion, Integration, Permission } from '../../protocol/index.ts';
import type { Segments } from '../campaigns/audience/segments.ts';
import type { CampaignSet } from '../campaigns/campaign-set.ts';
import type { Schedule } from '../integrations/schedule.ts';
import { createIssue, type LocatedIssue } from '../issues.ts';
import type { RateLimitWindow } from '../store/store.ts';
import type { UserTokens } from '../user-tokens/user-tokens.ts';
import type { UserRules } from '../users/user-rules.ts';
import type { Webhook } from '../webhooks/webhook.ts';
import type { SourceFile } from './integration-schema.ts';
import { WorkspaceError } from './issues.ts';
import type { LimitName, RateLimit } from './limits.ts';
import type { Operator, PlacementTemplate, StudioSettings } from './studio-settings.ts';

/** A workspace file after checking, in the shape the service works with. */
export interface Workspace extends CampaignSet, UserRules {
  name: string;
  apiKeys: readonly ApiKey[];
  /** By the names of the file. */
  apps: readonly { appId: string; name: string }[];
  /** Of the apps that take or need proof of the user, by app ID. */
  userTokens: ReadonlyMap<string, UserTokens>;
  /** `null` where data ingestion is not set up, which is not the same as an empty list. */
  integrations: readonly WorkspaceIntegration[] | null;
  webhooks: readonly Webhook[];
  bannersEnabled: boolean;
  /** Ready for the store's `consumeRateLimit`, the longest window first; empty where the workspace has no limit. */
  limits: Readonly<Record<LimitName, RateLimit[]>>;
  /** The window of one user, on the endpoints that have one. */
  userLimits: Readonly<Partial<Record<LimitName, RateLimitWindow>>>;
  /** Placements that pages may ask for: those of the file, or of its campaigns where the file lists none. */
  placementIds: ReadonlySet<string>;
  /** The campaigns as somebody wrote them. */
  rawCampaigns: readonly Record<string, unknown>[];
  /** `studio`: releases of the Studio take the place of campaigns in the file. */
  campaignsFrom: 'file' | 'studio';
  /** `null` where the file does not list them: campaigns may name any. */
  placements: readonly Placement[] | null;
  /** Audiences with a name: those of the file, each replaced by its release where there is one. */
  segments: Segments;
  /** Days that events are kept; `null` for ever. */
  retention: { events: number | null; bannerEvents: number | null };
  /** Who may use the Studio. */
  operators: readonly Operator[];
  studio: StudioSettings;
  /** What can be served and cannot be meant, one sentence each, with its path in the file. */
  warnings: readonly LocatedIssue[];
}

/** Where the rows of an integration come from. */
export type Source = SourceFile & {
  /** Paths of files are relative to it. */
  folder: string;
};

/** An entry of `integrations`. */
export interface WorkspaceIntegration {
  /** As the file writes it. */
  record: Integration;
  /** `null` where the entry is only listed. */
  source: Source | null;
  schedule: Schedule;
}

/** A slot of the pages that campaigns can name. */
export interface Placement {
  placementId: string;
  name: string;
  /** What the Studio draws its banners with; `null` where the file does not say. */
  template: PlacementTemplate | null;
  /** Where pages insert it by themselves; `null` where they mount it. */
  spot: InsertionPoint | null;
}

/** A place of a site that a selector finds. */
export interface InsertionPoint {
  selector: string;
  insert: Insertion;
  /** `*` stands for any characters. */
  paths: readonly string[];
  heightPx: number;
  /** Where its box is 48 rem wide or wider. */
  wideHeightPx: number;
}

export interface ApiKey {
  name: string;
  type: 'client' | 'server';
  /** SHA-256, 32 bytes. The key itself is kept nowhere. */
  hash: Uint8Array;
  permissions: ReadonlySet<Permission>;
}

export interface AuthenticatedKey {
  workspace: Workspace;
  key: ApiKey;
}

/** All workspaces at one moment. A reload makes a new one; a request keeps the one it began with. */
export interface Registry {
  workspaces: readonly Workspace[];
  /** Who holds the key of this SHA-256; compared in constant time. */
  holderOf(hash: Uint8Array): AuthenticatedKey | undefined;
}

/** The first bytes of a hash choose a handful of candidates: they give nothing of a key away, and the rest is compared whole. */
const bucketOf = (hash: Uint8Array): number =>
  (((hash[0] ?? 0) << 16) | ((hash[1] ?? 0) << 8) | (hash[2] ?? 0)) >>> 0;

/** Throws a `WorkspaceError` if two workspaces share an ID or a key. */
export const createRegistry = (sources: readonly { workspace: Workspace; source: string }[]): Registry => {
  const buckets = new Map<number, AuthenticatedKey[]>();
  const seen = new Map<string, string>();
  const holderOf = (hash: Uint8Array): AuthenticatedKey | undefined => {
    let found: AuthenticatedKey | undefined;
    for (const holder of buckets.get(bucketOf(hash)) ?? []) {
      if (timingSafeEqual(holder.key.hash, hash)) found = holder;
    }
    return found;
  };
  for (const { workspace, source } of sources) {
    const other = seen.get(workspace.workspaceId);
    if (other !== undefined) {
      const issue = createIssue('duplicate_workspace', { id: workspace.workspaceId, source: other });
      throw new WorkspaceError(source, [{ path: ['workspace_id'], ...issue }]);
    }
    seen.set(workspace.workspaceId, source);
    for (const [index, key] of workspace.apiKeys.entries()) {
      const holder = holderOf(key.hash);
      if (holder) {
        const issue = createIssue('shared_key', { workspace: holder.workspace.workspaceId });
        throw new WorkspaceError(source, [{ path: ['api_keys', index], ...issue }]);
      }
      const bucket = bucketOf(key.hash);
      buckets.set(bucket, [...(buckets.get(bucket) ?? []), { workspace, key }]);
    }
  }
  return { workspaces: sources.map(({ workspace }) => workspace), holderOf };
};
