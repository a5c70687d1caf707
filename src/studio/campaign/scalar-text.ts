export type Scalar = string | number | boolean;

/** `7` is a number, `true` a yes; in quotation marks either is a text. */
export const scalarOf = (typed: string): Scalar => {
  const text = typed.trim();
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return Number(text);
  if (text === 'true' || text === 'false') return text === 'true';
  return /^".*"$/s.test(text) ? text.slice(1, -1) : text;
};

/** What one would type for a value. */
export const typedOf = (value: Scalar): string =>
  typeof value === 'string' && scalarOf(value) !== value ? `"${value}"` : String(value);
