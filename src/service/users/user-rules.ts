/** Workspace settings for checks of users and events. */
export interface UserRules {
  workspaceId: string;
  appIds: ReadonlySet<string>;
  blockedExternalIds: ReadonlySet<string>;
  /** Subscription groups by ID in lower case. */
  subscriptionGroups: ReadonlyMap<string, { name: string; channel: string }>;
  /** Whether the limit of 75 objects in `users/track` applies to all arrays combined or to each array. */
  trackObjects: 'combined' | 'per_array';
}
