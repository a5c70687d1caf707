/** A spreadsheet runs a cell that begins with one of these, be it behind spaces, or as wide as East Asian letters. */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/;

/** A cell of a CSV file (RFC 4180) that no spreadsheet runs. */
export const csvCell = (value: string | number): string => {
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** The text of a cell that came back: the apostrophe that `csvCell` put before it is gone again. */
export const textOfCell = (cell: string): string =>
  cell.startsWith("'") && FORMULA.test(cell.slice(1)) ? cell.slice(1) : cell;
