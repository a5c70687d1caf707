import type { SQLInputValue } from 'node:sqlite';

/**
 * What one transaction stores: flat lists of column values, because they cross to the writer's thread and plain
 * lists of texts and numbers cross fastest.
 */
export interface Group {
  /** id, workspace, profile, version */
  inserts: SQLInputValue[];
  /** profile, version, id */
  updates: SQLInputValue[];
  /** id */
  deletes: number[];
  /** workspace, key, id, 1 to add or 0 to remove: in the order in which it was done */
  keys: SQLInputValue[];
  /** request, workspace, attributes */
  journal: SQLInputValue[];
  /** request, workspace, received, newest, events */
  events: SQLInputValue[];
  /** The columns of `banner_events`, in their order. */
  bannerEvents: SQLInputValue[];
  /** workspace, day, points */
  points: SQLInputValue[];
  /** workspace, secret */
  secrets: SQLInputValue[];
  progress: { lastRequest: number; settledRequest: number } | null;
}

export const createGroup = (): Group => ({
  inserts: [],
  updates: [],
  deletes: [],
  keys: [],
  journal: [],
  events: [],
  bannerEvents: [],
  points: [],
  secrets: [],
  progress: null,
});

export const BANNER_EVENT_COLUMNS = [
  'workspace_id',
  'external_user_id',
  'banner_id',
  'event_type',
  'timestamp_ms',
  'app_id',
  'campaign_id',
  'variant_id',
  'placement_id',
  'is_control',
  'is_test_send',
  'timestamp',
  'received_at_ms',
] as const;
