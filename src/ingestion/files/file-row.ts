import type { JsonRow } from '../read-row.ts';

/** Row of a file, or invalid line. `line` is `null` if the file has no lines. */
export type FileRow =
  | { names: readonly string[]; row: JsonRow; line: number | null }
  | { reason: string; line: number };

/** Selects the columns to read. Throws if a required column is missing, except for NDJSON, whose lines are then rejected. */
export type PickColumns = (names: readonly string[]) => readonly string[];
