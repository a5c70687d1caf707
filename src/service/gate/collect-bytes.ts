/** What the second chunk is copied into; it doubles from there. */
const FIRST_BYTES = 64 * 1024;
const NOTHING = new Uint8Array(0);

/**
 * Puts the chunks of a body together. The usual body is one chunk, which is kept as it came. More are copied: a chunk
 * of one byte takes more than a hundred as an object of its own. The buffer grows with the bytes that came, not
 * with the length that was declared.
 */
export const collectBytes = (maxBytes: number) => {
  let kept: Uint8Array = NOTHING;
  let length = 0;
  const forget = () => {
    kept = NOTHING;
    length = 0;
  };
  return {
    forget,
    /** `false` where it is more than `maxBytes` with this one: what came before is forgotten. */
    add(chunk: Uint8Array): boolean {
      const end = length + chunk.byteLength;
      if (end > maxBytes) {
        forget();
        return false;
      }
      if (length === 0) kept = chunk;
      else {
        if (end > kept.byteLength) {
          const larger = Buffer.allocUnsafe(
            Math.min(maxBytes, Math.max(FIRST_BYTES, 2 * kept.byteLength, end)),
          );
          larger.set(kept.subarray(0, length));
          kept = larger;
        }
        kept.set(chunk, length);
      }
      length = end;
      return true;
    },
    bytes: (): Uint8Array => kept.subarray(0, length),
  };
};
