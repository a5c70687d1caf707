import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { linesOf } from '../../src/cli/lines-of.ts';
import fc from '../helpers/property.ts';

/** A stream of bytes that comes in pieces of the given size. */
const inPieces = (text: string, size: number): Readable => {
  const bytes = Buffer.from(text);
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );
  return Readable.from(pieces, { objectMode: false });
};

const all = async (text: string, size = 1_024): Promise<string[]> => {
  const lines: string[] = [];
  for await (const line of linesOf(inPieces(text, size))) lines.push(line);
  return lines;
};

describe('linesOf', () => {
  it('parts lines at line feeds alone', async () => {
    expect(await all('a\u2028b\u2029c\u0085d\n\ne\r\nf')).toEqual(['a\u2028b\u2029c\u0085d', '', 'e\r', 'f']);
  });

  it('makes no line of nothing, nor of what follows the last line feed when that is nothing', async () => {
    expect(await all('')).toEqual([]);
    expect(await all('a\n')).toEqual(['a']);
  });

  it('reads the same lines whatever pieces they come in, characters of many bytes included', async () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'ü', '€', '😀', '\u2028', '\n') });
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 7 }), async (content, size) => {
        const lines = content.split('\n');
        expect(await all(content, size)).toEqual(lines.at(-1) === '' ? lines.slice(0, -1) : lines);
      }),
      { numRuns: 100 },
    );
  });
});
