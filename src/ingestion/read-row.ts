import { type JsonValue, type ReadValue, UnreadableValueError } from './json-value.ts';

/** A row of any source, as JSON. */
export interface JsonRow {
  /** Values by column. An unreadable value is kept as text, for display. */
  values: Readonly<Record<string, JsonValue>>;
  /** Why JSON cannot represent a value, by column: "is not UTF-8". */
  unreadable: Readonly<Record<string, string>>;
}

/** A column of a source, with the reader of its type. */
export interface SourceColumn {
  name: string;
  read: ReadValue;
}

/**
 * Converts values from a driver to JSON before the row is validated. An unreadable value is never `null`, because `null` unsets
 * an attribute.
 */
export const readRow = (columns: readonly SourceColumn[], cells: readonly unknown[]): JsonRow => {
  // No prototype, because a column may have any name.
  const values: Record<string, JsonValue> = Object.create(null);
  const unreadable: Record<string, string> = Object.create(null);
  for (const [index, { name, read }] of columns.entries()) {
    const cell = cells[index] ?? null;
    try {
      values[name] = cell === null ? null : read(cell);
    } catch (error) {
      if (!(error instanceof UnreadableValueError)) throw error;
      values[name] = error.shown;
      unreadable[name] = error.message;
    }
  }
  return { values, unreadable };
};
