const LINE_FEED = 10;

/**
 * The lines of a text as bytes, parted by `\n` alone: readline also cuts at U+2028 and U+2029, which JSON holds as they
 * are. No byte of a character of several is a line feed in UTF-8, and who decodes a line can say which one is none.
 */
export async function* linesOf(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let pieces: Buffer[] = [];
  for await (const piece of input) {
    let start = 0;
    for (let end = piece.indexOf(LINE_FEED); end >= 0; end = piece.indexOf(LINE_FEED, start)) {
      pieces.push(piece.subarray(start, end));
      yield Buffer.concat(pieces);
      pieces = [];
      start = end + 1;
    }
    if (start < piece.length) pieces.push(piece.subarray(start));
  }
  if (pieces.length > 0) yield Buffer.concat(pieces);
}
