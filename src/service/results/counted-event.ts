import { EVENT_TYPES, type EventType } from '../../protocol/index.ts';
import { booleanIn, numberIn, oneIn, type SqlRow, textIn, textOrNullIn } from '../operators/index.ts';
import { msIn } from '../sql/columns.ts';
import type { DimensionsOfEvent } from './user-result.ts';

/** A banner event as the results count it. */
export interface CountedEvent extends DimensionsOfEvent {
  userId: number;
  workspaceId: string;
  campaignId: string;
  holdoutId: string | null;
  eventType: EventType;
  variantId: string | null;
  isControl: boolean;
  isTestSend: boolean;
  atMs: number;
  receivedAtMs: number;
}

export const countedEventIn = (row: SqlRow): CountedEvent => ({
  userId: numberIn(row, 'user_id'),
  workspaceId: textIn(row, 'workspace_id'),
  campaignId: textIn(row, 'campaign_id'),
  holdoutId: textOrNullIn(row, 'holdout_id'),
  eventType: oneIn(row, 'event_type', EVENT_TYPES),
  variantId: textOrNullIn(row, 'variant_id'),
  isControl: booleanIn(row, 'is_control'),
  isTestSend: booleanIn(row, 'is_test_send'),
  day: textIn(row, 'day'),
  placementId: textIn(row, 'placement_id'),
  language: textOrNullIn(row, 'language'),
  atMs: Math.min(msIn(row, 'occurred_at'), msIn(row, 'received_at')),
  receivedAtMs: msIn(row, 'received_at'),
});

/** Variant of the holdout's results that everyone who is not held out counts for. */
export const OF_ALL = 'campaigns';

/** An event for its campaign, and once more for the holdout that it names. */
export const countedAs = <T extends { campaignId: string; holdoutId: string | null }>(event: T): T[] => {
  const { holdoutId } = event;
  if (holdoutId === null) return [event];
  // A user in the control group of one campaign gets others.
  return [event, { ...event, campaignId: holdoutId, variantId: OF_ALL, isControl: false }];
};
