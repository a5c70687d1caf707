import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { InputLine } from '../../src/cli/track/input-line.ts';
import { ndjsonLines } from '../../src/cli/track/ndjson-lines.ts';
import { splitLines } from '../../src/protocol/index.ts';
import fc from '../helpers/property.ts';

const read = async (...lines: (string | Buffer)[]): Promise<InputLine[]> => {
  const bytes = Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')]));
  const found: InputLine[] = [];
  for await (const line of ndjsonLines(Readable.from([bytes], { objectMode: false }))) found.push(line);
  return found;
};
const getReason = async (line: string) => {
  const [, found] = await read('{"events":[]}', line);
  return found && 'reason' in found ? found.reason : undefined;
};
const SHAPE = 'a line must be {"attributes": …}, {"events": …} or {"purchases": …}, got';

describe('a line of NDJSON', () => {
  it('contains one object, or indexed objects of one or more arrays', async () => {
    const kim = { external_id: 'kim' };
    expect(
      await read(
        JSON.stringify({ attributes: kim }),
        '',
        JSON.stringify({ purchases: [kim], events: [kim, kim] }),
      ),
    ).toEqual([
      { line: 1, objects: [{ array: 'attributes', object: kim }] },
      {
        line: 3,
        objects: [
          { array: 'events', object: kim, index: 0 },
          { array: 'events', object: kim, index: 1 },
          { array: 'purchases', object: kim, index: 0 },
        ],
      },
    ]);
  });

  it.each([
    ['{"event":{}}', `${SHAPE} the member "event"`],
    ['{"events":{},"user":1}', `${SHAPE} the member "user"`],
    ['{"external_id":"kim","a":1,"b":2,"c":3}', `${SHAPE} the members "external_id", "a", "b", …`],
    ['{}', `${SHAPE} an empty object`],
    ['[]', `${SHAPE} an array`],
    ['5', `${SHAPE} no object`],
    ['{"events":', 'a line must be JSON'],
  ])('is rejected with the reason if it is %s', async (line, reason) => {
    expect(await getReason(line)).toBe(reason);
  });

  it('is rejected if it is invalid UTF-8, and adjacent lines are accepted', async () => {
    const bad = Buffer.from('{"events":{"name":"J\xf6rg"}}', 'latin1');
    const good = '{"events":{"name":"Jörg"}}';
    expect(
      (await read(bad, good)).map((line) => ('reason' in line ? line.reason : line.objects.length)),
    ).toEqual(['a line must be UTF-8', 1]);
  });

  it.each(['external_id,name', '[{"events":{}}]', 'not json', '<html>'])(
    'ends the command if it is first and is %s, because the input has another format',
    async (line) => {
      await expect(read('', line, '{"events":{}}')).rejects.toThrow(
        /^line 2 is not NDJSON: .*--as attributes/,
      );
    },
  );
});

/** Byte stream in chunks of the given size. */
const inPieces = (bytes: Buffer, size: number): Readable => {
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );
  return Readable.from(pieces, { objectMode: false });
};

const all = async (bytes: Buffer, size = 1_024): Promise<Buffer[]> => {
  const lines: Buffer[] = [];
  for await (const line of splitLines(inPieces(bytes, size))) lines.push(Buffer.from(line));
  return lines;
};
const texts = async (text: string, size?: number) => (await all(Buffer.from(text), size)).map(String);

describe('getLines', () => {
  it('splits lines at line feeds only', async () => {
    expect(await texts('a\u2028b\u2029c\u0085d\n\ne\r\nf')).toEqual([
      'a\u2028b\u2029c\u0085d',
      '',
      'e\r',
      'f',
    ]);
  });

  it('returns no lines for empty input or after the last line feed', async () => {
    expect(await texts('')).toEqual([]);
    expect(await texts('a\n')).toEqual(['a']);
  });

  it('keeps invalid UTF-8 bytes', async () => {
    expect(await all(Buffer.from('J\xf6rg\n\xff\n', 'latin1'))).toEqual([
      Buffer.from('J\xf6rg', 'latin1'),
      Buffer.from([0xff]),
    ]);
  });

  it('reads the same lines for any split into chunks, even within a character', async () => {
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
