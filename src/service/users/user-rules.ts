/** Workspace settings that users and events are checked against. */
export interface UserRules {
  workspaceId: string;
  appIds: ReadonlySet<string>;
  blockedExternalIds: ReadonlySet<string>;
  /** Key: group ID, in lower case. */
  subscriptionGroups: ReadonlyMap<string, { name: string; channel: string }>;
  /** How `users/track` counts its 75 objects. */
  trackObjects: 'combined' | 'per_array';
}
