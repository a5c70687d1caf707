export type Scalar = string | number | boolean;

export const isScalar = (value: unknown): value is Scalar =>
  ['string', 'number', 'boolean'].includes(typeof value);

/** Parses input. `7` is a number and `true` a Boolean; `"7"` and `"true"` are strings. */
export const parseScalar = (typed: string): Scalar => {
  const text = typed.trim();
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return Number(text);
  if (text === 'true' || text === 'false') return text === 'true';
  return /^".*"$/s.test(text) ? text.slice(1, -1) : text;
};

/** Formats a value as input for `parseScalar`. */
export const formatScalar = (value: Scalar): string =>
  typeof value === 'string' && parseScalar(value) !== value ? `"${value}"` : String(value);
