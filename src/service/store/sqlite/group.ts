import type { SQLInputValue } from 'node:sqlite';

/**
 * What one transaction stores: flat lists of column values, because they cross to the writer's thread and plain
 * lists cross fastest. Long texts are bytes, which are handed over instead of copied.
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
  /** request, workspace, attributes as bytes */
  journal: SQLInputValue[];
  /** request, workspace, received, newest, events as bytes */
  events: SQLInputValue[];
  /** The columns of `banner_events`, in their order, and the round after them. */
  bannerEvents: SQLInputValue[];
  /** workspace, day, points */
  points: SQLInputValue[];
  /** workspace, secret */
  secrets: SQLInputValue[];
  progress: { lastRequest: number; settledRequest: number } | null;
  /** The memory of the bytes above, which leaves this thread with them. */
  handedOver: ArrayBuffer[];
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
  handedOver: [],
});

const encoder = new TextEncoder();

/** A long text as the bytes that the group hands over. */
export const bytesOf = (group: Group, text: string): Uint8Array => {
  const bytes = encoder.encode(text);
  group.handedOver.push(bytes.buffer);
  return bytes;
};

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
