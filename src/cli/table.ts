import { stripVTControlCharacters } from 'node:util';

/** Names come from people: one must not move a terminal's cursor, or break the table. */
const plain = (cell: string): string => stripVTControlCharacters(cell).replaceAll(/\p{Cc}+/gu, ' ');

/** Rows as lines whose columns are aligned with spaces. */
export const tableLines = (rows: readonly (readonly string[])[]): string[] => {
  const cells = rows.map((row) => row.map(plain));
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
};
