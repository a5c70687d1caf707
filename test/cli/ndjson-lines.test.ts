import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { InputLine } from '../../src/cli/track/input-line.ts';
import { ndjsonLines } from '../../src/cli/track/ndjson-lines.ts';

const read = async (...lines: (string | Buffer)[]): Promise<InputLine[]> => {
  const bytes = Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')]));
  const found: InputLine[] = [];
  for await (const line of ndjsonLines(Readable.from([bytes], { objectMode: false }))) found.push(line);
  return found;
};
const reasonOf = async (line: string) => {
  const [, found] = await read('{"events":[]}', line);
  return found && 'reason' in found ? found.reason : undefined;
};
const SHAPE = 'a line must be {"attributes": …}, {"events": …} or {"purchases": …}, got';

describe('a line of NDJSON', () => {
  it('is one object, or several of one or more arrays, each with its index there', async () => {
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
  ])('that is %s is refused with what is wrong', async (line, reason) => {
    expect(await reasonOf(line)).toBe(reason);
  });

  it('that is no UTF-8 is refused, and the lines around it are not', async () => {
    const bad = Buffer.from('{"events":{"name":"J\xf6rg"}}', 'latin1');
    const good = '{"events":{"name":"Jörg"}}';
    expect(
      (await read(bad, good)).map((line) => ('reason' in line ? line.reason : line.objects.length)),
    ).toEqual(['a line must be UTF-8', 1]);
  });

  it.each(['external_id,name', '[{"events":{}}]', 'not json', '<html>'])(
    'that comes first and is %s shows that the input is something else: nothing is read',
    async (line) => {
      await expect(read('', line, '{"events":{}}')).rejects.toThrow(
        /^line 2 is not NDJSON: .*--as attributes/,
      );
    },
  );
});
