import type { SqlRow } from '../sql/row-readers.ts';
import { pickFields, type RowOf } from '../sql/table.ts';
import { BANNER_EVENTS } from '../sql/user-tables.ts';

const COUNTED = pickFields(BANNER_EVENTS, [
  'userId',
  'workspaceId',
  'campaignId',
  'holdoutId',
  'eventType',
  'variantId',
  'day',
  'placementId',
  'language',
  'timeMs',
  'receivedAtMs',
]);

export const COUNTED_COLUMNS = COUNTED.columns;

/** Banner event with the fields that results count. */
export type CountedEvent = RowOf<typeof COUNTED> & { atMs: number };

export const toCountedEvent = (row: SqlRow): CountedEvent => {
  const event = COUNTED.read(row);
  return Object.assign(event, { atMs: Math.min(event.timeMs, event.receivedAtMs) });
};
