import type { MalformedRow, Position, SourceRow } from './source-row.ts';

/** Snapshot of a source: all rows are as of one moment. */
export interface Snapshot {
  /** Why the newest rows are left for a later run; `null` if none are. */
  message: string | null;
  /** Rows after the position, sorted by time and key. */
  rows(): AsyncIterable<SourceRow>;
  /** Current rows of earlier rejects, in the same order. May include rows after the position. */
  retryRows(): AsyncIterable<SourceRow>;
  unusable(): AsyncIterable<MalformedRow>;
  close(): Promise<void>;
}

/** Query of a run: a start position and earlier rejects. */
export interface SnapshotQuery {
  /** Position before the first row of `rows`; `null` to read from the start. */
  after: Position | null;
  /** Keys of rejected rows, for `retryRows`. */
  keys: readonly string[];
  /** IDs of unreadable lines, for `retryRows`. */
  lines: readonly string[];
  nowMs: number;
  signal: AbortSignal;
}
