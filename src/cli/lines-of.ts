import type { Readable } from 'node:stream';

/** The lines of a text, parted by `\n` alone: readline also cuts at U+2028 and U+2029, which JSON holds as they are. */
export async function* linesOf(input: Readable): AsyncGenerator<string, void, undefined> {
  let line = '';
  // The stream decodes, and keeps the beginning of a character that a piece of bytes ends in for the next.
  for await (const piece of input.setEncoding('utf8') as AsyncIterable<string>) {
    const [end = '', ...more] = piece.split('\n');
    line += end;
    for (const next of more) {
      yield line;
      line = next;
    }
  }
  if (line !== '') yield line;
}
