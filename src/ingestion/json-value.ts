import { type JsonValue, parseJson } from '../protocol/index.ts';

export type { JsonValue };

/** Thrown for a value that JSON cannot represent. The message completes a sentence that starts with the column's name. */
export class UnreadableValueError extends Error {
  override name = 'UnreadableValueError';
  /** Value as displayed in a reject. */
  readonly shown: string;

  constructor(message: string, shown: string) {
    super(message);
    this.shown = shown;
  }
}

/** Converts a non-null value from a driver. Throws `UnreadableValueError` if JSON cannot represent it. */
export type ReadValue = (value: unknown) => JsonValue;

export const readDouble = (value: number): number => {
  if (Number.isFinite(value)) return value;
  throw new UnreadableValueError(`is ${value}, which JSON cannot hold`, String(value));
};

/** Returns the shortest decimal that is the same float: 19.99, not 19.989999771118164. */
export const readFloat = (value: number): number => {
  readDouble(value);
  for (let digits = 1; digits <= 9; digits += 1) {
    const shorter = Number(value.toPrecision(digits));
    if (Math.fround(shorter) === value) return shorter;
  }
  return value;
};

/** Returns a number if the integer is safe, otherwise its digits. */
export const readInteger = (value: bigint): number | string =>
  Number.isSafeInteger(Number(value)) ? Number(value) : String(value);

/** Removes trailing characters. Uses no regular expression, because it takes quadratic time on long runs of the character. */
export const dropTrailing = (character: string, text: string): string => {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
};

/** Returns sign, digits without leading and trailing zeros, and exponent. */
const normalize = (text: string): string => {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = dropTrailing('0', digits);
  if (significant === '') return '0';
  const shift = Number(exponent) - fraction.length + digits.length - significant.length;
  return `${sign === '-' ? '-' : ''}${significant}e${shift}`;
};

/** Returns a number if it represents the digits exactly, such as `4.35`; otherwise the text, such as an ID of 38 digits. */
export const readDecimal = (text: string): number | string => {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new UnreadableValueError(`is ${text}, which JSON cannot hold`, text);
  const isExact =
    (!Number.isInteger(value) || Number.isSafeInteger(value)) && normalize(text) === normalize(String(value));
  return isExact ? value : text;
};

// Keeps a byte order mark as part of the value, like every other source.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes text as UTF-8, or with the given decoder. */
export const readText = (bytes: Uint8Array, decoder: TextDecoder = utf8): string => {
  try {
    return decoder.decode(bytes);
  } catch {
    const lossy = new TextDecoder(decoder.encoding, { ignoreBOM: true });
    throw new UnreadableValueError(`is not ${decoder.encoding.toUpperCase()}`, lossy.decode(bytes));
  }
};

/** Formats 16 bytes as a UUID, other lengths as hexadecimal. */
export const readBytes = (bytes: Uint8Array): string => {
  const hex = Buffer.from(bytes).toString('hex');
  return bytes.length === 16 ? hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') : hex;
};

export const readJson = (text: string): JsonValue => {
  try {
    return parseJson(text);
  } catch (error) {
    // The platform's message quotes the value.
    const why = error instanceof RangeError ? `: ${error.message}` : '';
    throw new UnreadableValueError(`is not JSON${why}`, text);
  }
};
