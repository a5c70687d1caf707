const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const ARRAY = 0x5b;
const OBJECT = 0x7b;

/**
 * Whether a JSON text holds more than `max` values, counted by what stands before each: a comma or a bracket. They, not
 * the bytes, are what a parser needs time and memory for: 4 MB of brackets take twenty times as long as one text of 4 MB.
 * How deep they nest makes no difference to it.
 */
export const hasMoreValues = (json: Uint8Array, max: number): boolean => {
  let values = 0;
  let inText = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (inText) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) inText = false;
    } else if (byte === QUOTE) inText = true;
    else if (byte === COMMA || byte === ARRAY || byte === OBJECT) {
      values += 1;
      if (values > max) return true;
    }
  }
  return false;
};
