import type { Source } from '../service/index.ts';
import { distinctRows } from './distinct-rows.ts';
import { openFiles } from './files/open-files.ts';
import { openPostgres } from './postgres.ts';
import type { MalformedRow, Position, SourceRow } from './source-row.ts';

/** A source as of one moment: however long the reading takes, all rows are of that moment. */
export interface Snapshot {
  /** Why the newest rows are left for a later run; `null` where none are. */
  message: string | null;
  /** Those after the position, in the order of time and key. */
  rows(): AsyncIterable<SourceRow>;
  /** Those of rejects, as they are now, in the same order; perhaps some of those after the position too. */
  retryRows(): AsyncIterable<SourceRow>;
  unusable(): AsyncIterable<MalformedRow>;
  close(): Promise<void>;
}

/** What a run wants of a source. */
export interface Question {
  /** Where `rows` begins; `null` for the first row of all. */
  after: Position | null;
  /** Keys of refused rows, for `retryRows`. */
  keys: readonly string[];
  /** IDs of lines that could not be read, for `retryRows`. */
  lines: readonly string[];
  nowMs: number;
  signal: AbortSignal;
}

/** Connects to a source. Throws where it is gone, or where a column is missing. */
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
