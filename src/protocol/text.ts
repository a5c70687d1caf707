/** jsdom, as Jest brings it, has none. */
const encoder = globalThis.TextEncoder && new TextEncoder();

/** Length in UTF-8 bytes. */
export const utf8Bytes = (text: string): number =>
  encoder ? encoder.encode(text).byteLength : new Blob([text]).size;

/** True when the text has at most `most` UTF-8 bytes; encodes only where the answer is not obvious. */
export const fitsBytes = (text: string, most: number): boolean =>
  text.length * 3 <= most || (text.length <= most && utf8Bytes(text) <= most);

/** True when the text has at most `most` Unicode code points. */
export const fitsCharacters = (text: string, most: number): boolean => {
  if (text.length <= most) return true;
  if (text.length > most * 2) return false;
  let count = 0;
  for (const _ of text) if (++count > most) return false;
  return true;
};

/** PostgreSQL cannot store U+0000, and a lone surrogate has no UTF-8 form: such text is refused on both stores. */
export const isStorableText = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

/**
 * False for a number beyond those that JavaScript counts one by one: `12345678901234567890` has become
 * `12345678901234567000` before anybody sees it. Senders write such an ID as text.
 */
export const isStorableNumber = (value: number): boolean => Math.abs(value) <= Number.MAX_SAFE_INTEGER;
