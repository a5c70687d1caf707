const LINE_FEED = 10;
// Marked, so that no script of a page has it: a page reads no lines.
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
 * The lines of a text as bytes, parted by `\n` alone: readline of Node also cuts at U+2028 and U+2029, which JSON holds as they
 * are. No byte of a character of several is a line feed in UTF-8, and who decodes a line can say which one is none. A line that is
 * longer than `maxBytes` is cut to one byte more. Default unlimited.
 */
export async function* linesOf(
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
 * Bytes as text; `null` where they are not UTF-8. Names of users in another encoding must not become others: `J\xf6rg`
 * and `J\xe4rg` are not one. A byte order mark in front, which some editors put there, is left out.
 */
export const decoded = (bytes: Uint8Array): string | null => {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
};
