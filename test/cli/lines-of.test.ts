import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { linesOf } from '../../src/cli/track/ndjson-lines.ts';
import fc from '../helpers/property.ts';

/** A stream of bytes that comes in pieces of the given size. */
const inPieces = (bytes: Buffer, size: number): Readable => {
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );
  return Readable.from(pieces, { objectMode: false });
};

const all = async (bytes: Buffer, size = 1_024): Promise<Buffer[]> => {
  const lines: Buffer[] = [];
  for await (const line of linesOf(inPieces(bytes, size))) lines.push(line);
  return lines;
};
const texts = async (text: string, size?: number) => (await all(Buffer.from(text), size)).map(String);

describe('linesOf', () => {
  it('parts lines at line feeds alone', async () => {
    expect(await texts('a\u2028b\u2029c\u0085d\n\ne\r\nf')).toEqual([
      'a\u2028b\u2029c\u0085d',
      '',
      'e\r',
      'f',
    ]);
  });

  it('makes no line of nothing, nor of what follows the last line feed when that is nothing', async () => {
    expect(await texts('')).toEqual([]);
    expect(await texts('a\n')).toEqual(['a']);
  });

  it('keeps bytes that are no text', async () => {
    expect(await all(Buffer.from('J\xf6rg\n\xff\n', 'latin1'))).toEqual([
      Buffer.from('J\xf6rg', 'latin1'),
      Buffer.from([0xff]),
    ]);
  });

  it('reads the same lines whatever pieces they come in, characters of many bytes included', async () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'ü', '€', '😀', '\u2028', '\n') });
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 7 }), async (content, size) => {
        const lines = content.split('\n');
        expect(await texts(content, size)).toEqual(lines.at(-1) === '' ? lines.slice(0, -1) : lines);
      }),
      { numRuns: 100 },
    );
  });
});
