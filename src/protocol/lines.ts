const LINE_FEED = 10;
// Marked as pure, so that page bundles, which do not read lines, drop it.
const utf8 = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true });

const joined = (pieces: readonly Uint8Array[]): Uint8Array => {
  if (pieces.length === 1) return pieces[0]!;
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
};

/**
 * Yields the lines of a text as bytes, separated only by `\n`, because Node's readline also splits at U+2028 and U+2029, which
 * JSON allows unescaped. In UTF-8 no multi-byte character contains a line feed, so invalid UTF-8 can be detected line by line.
 * Truncates longer lines to `maxBytes` + 1 bytes. Default: unlimited.
 */
export async function* splitLines(
  input: AsyncIterable<Uint8Array>,
  maxBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array, void, undefined> {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  const add = (piece: Uint8Array) => {
    const part = piece.subarray(0, maxBytes + 1 - bytes);
    bytes += part.length;
    if (part.length > 0) pieces.push(part);
  };
  for await (const piece of input) {
    let start = 0;
    for (let end = piece.indexOf(LINE_FEED); end >= 0; end = piece.indexOf(LINE_FEED, start)) {
      add(piece.subarray(start, end));
      yield joined(pieces);
      [pieces, bytes] = [[], 0];
      start = end + 1;
    }
    if (start < piece.length) add(piece.subarray(start));
  }
  if (pieces.length > 0) yield joined(pieces);
}

/**
 * Decodes UTF-8. Removes a leading byte order mark, which some editors add. Returns `null` if invalid, because replacement
 * characters would make different user names equal, such as `J\xf6rg` and `J\xe4rg`.
 */
export const decoded = (bytes: Uint8Array): string | null => {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
};
