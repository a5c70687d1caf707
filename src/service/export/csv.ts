/**
 * Start of a cell that spreadsheets execute: these characters, also after spaces or in East Asian full width. Apostrophes may
 * precede it, so that `parseCsvCell` removes only the one that `formatCsvCell` added.
 */
const FORMULA = /^'*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/;

/** Formats a CSV cell (RFC 4180) that spreadsheets do not execute. */
export const formatCsvCell = (value: string | number): string => {
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Removes the apostrophe that `formatCsvCell` added. */
export const parseCsvCell = (cell: string): string =>
  cell.startsWith("'") && FORMULA.test(cell.slice(1)) ? cell.slice(1) : cell;
