/** `TextEncoder` is missing in jsdom under Jest. */
const encoder = globalThis.TextEncoder && new TextEncoder();

export const utf8Bytes = (text: string): number =>
  encoder ? encoder.encode(text).byteLength : new Blob([text]).size;

/** Returns whether a text has at most `most` UTF-8 bytes. Encodes only if the length is inconclusive. */
export const fitsBytes = (text: string, most: number): boolean =>
  text.length * 3 <= most || (text.length <= most && utf8Bytes(text) <= most);

/** Returns whether a text has at most `most` Unicode code points. */
export const fitsCharacters = (text: string, most: number): boolean => {
  if (text.length <= most) return true;
  if (text.length > most * 2) return false;
  let count = 0;
  for (const _ of text) if (++count > most) return false;
  return true;
};

/** Returns whether every store can hold the text. PostgreSQL cannot store U+0000, and a lone surrogate has no UTF-8 encoding. */
export const isStorableText = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

/**
 * Returns whether a number is within the safe integers. Parsing loses the precision of larger numbers: `12345678901234567890`
 * becomes `12345678901234567000`. Send larger IDs as strings.
 */
export const isStorableNumber = (value: number): boolean => Math.abs(value) <= Number.MAX_SAFE_INTEGER;

/** Returns a text of at most `maxCharacters`, followed by `…` if it was longer. */
export const truncate = (text: string, maxCharacters: number): string =>
  text.length > maxCharacters ? `${text.slice(0, maxCharacters).toWellFormed()}…` : text;
