import { type JsonValue, type ReadValue, UnreadableValueError } from './json-value.ts';

/** Row of any source as JSON. */
export interface JsonRow {
  /** Values by column. An unreadable value is kept as text, for display. */
  values: Readonly<Record<string, JsonValue>>;
  /** Reasons that JSON cannot represent values, by column, for example "is not UTF-8". */
  unreadable: Readonly<Record<string, string>>;
}

/** Column of a source with the reader of its type. */
export interface SourceColumn {
  name: string;
  read: ReadValue;
}

/**
 * Converts values from a driver to JSON before validation of the row. An unreadable value does not become `null`, because `null`
 * unsets an attribute.
 */
export const readRow = (columns: readonly SourceColumn[], cells: readonly unknown[]): JsonRow => {
  // Without a prototype, because a column may have any name.
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
