import type { JsonRow } from '../read-row.ts';

/** A row of a file, or a line that is not one. `line` is `null` if the file has no lines. */
export type FileRow =
  | { names: readonly string[]; row: JsonRow; line: number | null }
  | { reason: string; line: number };

/** Chooses the columns to read among those that a row has. Throws if the source cannot be read by them. */
export type PickColumns = (names: readonly string[]) => readonly string[];
