import { isAhead } from '../platform/deadline.ts';
import type { Store, StoreKey } from '../platform/store.ts';
import { EVENT_RANGE, type EventKey, isEventKey, type Kept, readEvent, type StoredEvent } from './records.ts';

/** Records in one read, so that no read blocks the page, and how many reads look for company of the first event. */
const READ_SLICE = 200;
const COMPANY_READS = 5;
/** A batch alone fits the keepalive budget. */
const MAX_BODY_BYTES = 50_000;

export interface Scan {
  /** Events that may go out together, oldest first: one user, one app version, one in-doubt policy. */
  group: Kept[];
  /** Events seen that may go out now, of any group. */
  pending: number;
  /** When the first of those that may not is ready, in Unix milliseconds. */
  due: number | null;
  /** Skipped by the server, and the host was not asked yet. */
  skipped: Kept[];
  /** Keys of records that nobody can read. */
  corrupt: StoreKey[];
}

export interface ScanOptions {
  store: Store;
  now: number;
  /** The longest an event may be held back after a skip. */
  longestPauseMs: number;
  maxBatch: number;
  sameGroup: (a: StoredEvent, b: StoredEvent) => boolean;
  /** Events that are part of an open batch, or on their way into one. */
  isTaken: (key: EventKey) => boolean;
}

/** About what an event adds to a body: text may need three bytes a character, and the rest is fixed. */
const bodyBytes = ({ bannerId }: StoredEvent): number => bannerId.length * 3 + 90;

/** Reads the queue from its head until a batch is full or nothing is left. */
export const scanQueue = async (options: ScanOptions): Promise<Scan> => {
  const { store, now, longestPauseMs, maxBatch, sameGroup, isTaken } = options;
  const scan: Scan = { group: [], pending: 0, due: null, skipped: [], corrupt: [] };
  let bytes = 0;

  const look = (key: StoreKey, record: unknown) => {
    const event = readEvent(record);
    if (event === 'foreign') return;
    if (event === 'corrupt' || !isEventKey(key)) {
      scan.corrupt.push(key);
      return;
    }
    const kept: Kept = { key, event };
    if (isTaken(key)) return;
    if (event.skip !== undefined) {
      scan.skipped.push(kept);
      return;
    }
    if (event.after !== undefined && isAhead(event.after, now, longestPauseMs)) {
      scan.due = Math.min(scan.due ?? event.after, event.after);
      return;
    }
    scan.pending += 1;
    const [first] = scan.group;
    if (scan.group.length >= maxBatch || (first !== undefined && !sameGroup(first.event, event))) return;
    bytes += bodyBytes(event);
    if (first === undefined || bytes <= MAX_BODY_BYTES) scan.group.push(kept);
  };

  let from = EVENT_RANGE.from!;
  for (let reads = 0; reads < COMPANY_READS || scan.group.length === 0; reads += 1) {
    const records = await store.entries<unknown>({ ...EVENT_RANGE, from, limit: READ_SLICE });
    for (const [key, record] of records) if (key !== from) look(key, record);
    if (records.length < READ_SLICE || scan.group.length >= maxBatch) break;
    // The next read begins with a key that comes right after the last one.
    from = [...(records.at(-1)![0] as (string | number)[]), 0];
  }
  return scan;
};
