import { timingSafeEqual } from 'node:crypto';
import type { Insertion, Integration, LimitName, Permission, RateLimitWindow } from '../../protocol/index.ts';
import type { Segments } from '../campaigns/audience/segments.ts';
import type { CampaignSet } from '../campaigns/campaign-set.ts';
import type { Schedule } from '../integrations/schedule.ts';
import { createIssue, type LocatedIssue } from '../issues.ts';
import type { UserTokens } from '../user-tokens/user-tokens.ts';
import type { UserRules } from '../users/user-rules.ts';
import type { Webhook } from '../webhooks/webhook.ts';
import type { SourceFile } from './integration-schema.ts';
import { WorkspaceError } from './issues.ts';
import type { RateLimit } from './limits.ts';
import type { Operator, PlacementTemplate, StudioSettings } from './studio-settings.ts';

/** Validated workspace. */
export interface Workspace extends CampaignSet, UserRules {
  name: string;
  apiKeys: readonly ApiKey[];
  /** Apps of the file with their names. */
  apps: readonly { appId: string; name: string }[];
  /** User token settings by app ID, for apps that accept or require user tokens. */
  userTokens: ReadonlyMap<string, UserTokens>;
  /** Integrations; `null` if ingestion is not configured, which differs from an empty list. */
  integrations: readonly WorkspaceIntegration[] | null;
  webhooks: readonly Webhook[];
  bannersEnabled: boolean;
  /** Interval at which pages check for changed campaigns; `null` if they do not. */
  bannerPollSeconds: number | null;
  /** Hash of everything that decides about banners, equal on all replicas. */
  release: string;
  /** Windows for the store's `consumeRateLimit`, longest first. Empty if unlimited. */
  limits: Readonly<Record<LimitName, RateLimit[]>>;
  /** Per-user windows of the endpoints that have one. */
  userLimits: Readonly<Partial<Record<LimitName, RateLimitWindow>>>;
  /** Valid placement IDs: those of the file's list, or those of its campaigns if the file has no list. */
  placementIds: ReadonlySet<string>;
  /** Campaigns as written in the file. */
  rawCampaigns: readonly Record<string, unknown>[];
  /** Source of campaigns. With `studio`, Studio releases override the file. */
  campaignsFrom: 'file' | 'studio';
  /** Placements; `null` if the file has no list. Campaigns may then use any placement. */
  placements: readonly Placement[] | null;
  /** Named audiences of the file, each replaced by its release, if any. */
  segments: Segments;
  /** Retention in days; `null` keeps events forever. */
  retention: { events: number | null; bannerEvents: number | null };
  /** Operators of the Studio. */
  operators: readonly Operator[];
  studio: StudioSettings;
  /** Likely mistakes in a valid file, one sentence each, with their paths. */
  warnings: readonly LocatedIssue[];
}

/** Source of an integration's rows. */
export type Source = SourceFile & {
  /** Base folder of relative file paths. */
  folder: string;
};

/** Parsed entry of `integrations`. */
export interface WorkspaceIntegration {
  /** Entry as written in the file. */
  record: Integration;
  /** Source of the rows; `null` if the entry is only listed. */
  source: Source | null;
  schedule: Schedule;
}

/** Placement that campaigns can name. */
export interface Placement {
  placementId: string;
  name: string;
  /** Template of the Studio preview; `null` if not set. */
  template: PlacementTemplate | null;
  /** Automatic insertion point; `null` if the page mounts the placement. */
  insertionPoint: InsertionPoint | null;
}

/** Insertion point of a site, found by a selector. */
export interface InsertionPoint {
  selector: string;
  insert: Insertion;
  /** Paths of pages. `*` matches any characters. */
  paths: readonly string[];
  heightPx: number;
  /** Height for boxes of at least 48 rem. */
  wideHeightPx: number;
}

export interface ApiKey {
  name: string;
  type: 'client' | 'server';
  /** SHA-256 of the key, 32 bytes. The key itself is not stored. */
  hash: Uint8Array;
  permissions: ReadonlySet<Permission>;
}

export interface AuthenticatedKey {
  workspace: Workspace;
  key: ApiKey;
}

/** Snapshot of all workspaces. A reload creates a new snapshot; a request keeps the one it started with. */
export interface Registry {
  workspaces: readonly Workspace[];
  /** Returns the key with this SHA-256 and its workspace. Compares in constant time. */
  findApiKey(hash: Uint8Array): AuthenticatedKey | undefined;
}

/** Returns the bucket of a hash from its first bytes, which reveal nothing about the key. Its hashes are compared in full. */
const getBucket = (hash: Uint8Array): number =>
  (((hash[0] ?? 0) << 16) | ((hash[1] ?? 0) << 8) | (hash[2] ?? 0)) >>> 0;

/** Creates a registry. Throws a `WorkspaceError` if two workspaces share an ID or a key. */
export const createRegistry = (sources: readonly { workspace: Workspace; source: string }[]): Registry => {
  const buckets = new Map<number, AuthenticatedKey[]>();
  const seen = new Map<string, string>();
  const findApiKey = (hash: Uint8Array): AuthenticatedKey | undefined => {
    let found: AuthenticatedKey | undefined;
    for (const candidate of buckets.get(getBucket(hash)) ?? []) {
      if (timingSafeEqual(candidate.key.hash, hash)) found = candidate;
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
      const owner = findApiKey(key.hash);
      if (owner) {
        const issue = createIssue('shared_key', { workspace: owner.workspace.workspaceId });
        throw new WorkspaceError(source, [{ path: ['api_keys', index], ...issue }]);
      }
      const bucket = getBucket(key.hash);
      buckets.set(bucket, [...(buckets.get(bucket) ?? []), { workspace, key }]);
    }
  }
  return { workspaces: sources.map(({ workspace }) => workspace), findApiKey };
};
