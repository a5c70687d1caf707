import type { Source } from '../service/index.ts';
import { distinctRows } from './distinct-rows.ts';
import { openFiles } from './files/open-files.ts';
import { openPostgres } from './postgres.ts';
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
export interface Question {
  /** Position before the first row of `rows`; `null` to read from the start. */
  after: Position | null;
  /** Keys of rejected rows, for `retryRows`. */
  keys: readonly string[];
  /** IDs of unreadable lines, for `retryRows`. */
  lines: readonly string[];
  nowMs: number;
  signal: AbortSignal;
}

/** Connects to a source. Throws if it is unavailable or a column is missing. */
export const openSource = async (source: Source, question: Question): Promise<Snapshot> => {
  const snapshot = await (source.kind === 'postgres'
    ? openPostgres(source, question)
    : openFiles(source, question));
  return {
    ...snapshot,
    rows: () => distinctRows(snapshot.rows()),
    retryRows: () => distinctRows(snapshot.retryRows()),
  };
};
