import { EVENT_TYPES, type EventType } from '../../protocol/index.ts';
import { readEnum, readNumber, readText, readTextOrNull, type SqlRow } from '../row-readers.ts';
import { readMs } from '../sql/columns.ts';
import type { DimensionsOfEvent } from './user-result.ts';

/** Banner event with the fields that results count. */
export interface CountedEvent extends DimensionsOfEvent {
  userId: number;
  workspaceId: string;
  campaignId: string;
  holdoutId: string | null;
  eventType: EventType;
  variantId: string | null;
  atMs: number;
  receivedAtMs: number;
}

export const toCountedEvent = (row: SqlRow): CountedEvent => ({
  userId: readNumber(row, 'user_id'),
  workspaceId: readText(row, 'workspace_id'),
  campaignId: readText(row, 'campaign_id'),
  holdoutId: readTextOrNull(row, 'holdout_id'),
  eventType: readEnum(row, 'event_type', EVENT_TYPES),
  variantId: readTextOrNull(row, 'variant_id'),
  day: readText(row, 'day'),
  placementId: readText(row, 'placement_id'),
  language: readTextOrNull(row, 'language'),
  atMs: Math.min(readMs(row, 'occurred_at'), readMs(row, 'received_at')),
  receivedAtMs: readMs(row, 'received_at'),
});
