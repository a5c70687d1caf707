import type { Integration, Permission } from '../../protocol/index.ts';

/** A workspace file after checking, in the shape the service works with. */
export interface Workspace {
  workspaceId: string;
  name: string;
  appIds: ReadonlySet<string>;
  integrations: Integration[] | null;
  subscriptionGroups: ReadonlyMap<string, { name: string; channel: 'email' | 'sms' | string }>;
  blockedExternalIds: ReadonlySet<string>;
  /** How `users/track` counts its 75 objects. */
  trackObjects: 'combined' | 'per_array';
  bannersEnabled: boolean;
}

export interface ApiKey {
  name: string;
  type: 'client' | 'server';
  /** SHA-256, 32 bytes. */
  hash: Uint8Array;
  permissions: ReadonlySet<Permission>;
}
