import type { MalformedRow, Position, SourceRow } from './source-row.ts';

/** Consistent snapshot of a source at one time. */
export interface Snapshot {
  /** Reason that the newest rows are left for a later run; `null` if none are. */
  message: string | null;
  /** Yields the rows after the position, sorted by time and key. */
  rows(): AsyncIterable<SourceRow>;
  /** Yields the current rows of earlier rejects, sorted by time and key. May include rows after the position. */
  retryRows(): AsyncIterable<SourceRow>;
  malformed(): AsyncIterable<MalformedRow>;
  close(): Promise<void>;
}

/** Start position and earlier rejects of a run. */
export interface SnapshotQuery {
  /** Position after which `rows` starts; `null` for the start of the source. */
  after: Position | null;
  /** Keys of rejected rows, for `retryRows`. */
  invalidKeys: readonly string[];
  /** IDs of unreadable lines, for `retryRows`. */
  malformedRejectIds: readonly string[];
  nowMs: number;
  signal: AbortSignal;
}
