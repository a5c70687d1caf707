import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type CsvOptions, csvRows } from '../../src/cli/track/csv-rows.ts';
import fc from '../helpers/property.ts';

const read = async (text: string | Buffer, options: Partial<CsvOptions> = {}, chunk = 65_536) => {
  const bytes = Buffer.from(text);
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, at) =>
    bytes.subarray(at * chunk, (at + 1) * chunk),
  );
  const found: { line: number; array?: string | undefined; object?: unknown; reason?: string }[] = [];
  const input = Readable.from(chunks, { objectMode: false });
  for await (const row of csvRows(input, { array: 'attributes', delimiter: ',', ...options })) {
    found.push(
      'reason' in row ? row : { line: row.line, object: JSON.parse(JSON.stringify(row.objects[0]!.object)) },
    );
  }
  return found;
};
const objects = async (...given: Parameters<typeof read>) =>
  (await read(...given)).map(({ object }) => object);

describe('a CSV', () => {
  it('returns an object per row with the member names of the header, and skips empty cells', async () => {
    expect(await read('external_id,tier,city\r\nkim,gold,\r\n\r\njo,,Kraków\r\n')).toEqual([
      { line: 2, object: { external_id: 'kim', tier: 'gold' } },
      { line: 4, object: { external_id: 'jo', city: 'Kraków' } },
    ]);
  });

  it('keeps text as written, including digits and leading zeros', async () => {
    expect(await objects('external_id,zip,vip\n007,01234,true\n')).toEqual([
      { external_id: '007', zip: '01234', vip: 'true' },
    ]);
  });

  it('parses numbers, booleans and JSON as the header specifies', async () => {
    expect(
      await objects('external_id,n:number,b:boolean,j:json,t:text\nkim,-1.5,TRUE,"[1,{""a"":null}]",1\n'),
    ).toEqual([{ external_id: 'kim', n: -1.5, b: true, j: [1, { a: null }], t: '1' }]);
  });

  it('parses price and quantity of purchases as numbers, and properties by name', async () => {
    const header =
      'external_id,product_id,currency,price,quantity,time,properties.size,properties.left:number';
    expect(
      await objects(`${header}\nkim,1,EUR,42.50,2,2026-01-01T00:00:00Z,XL,3\n`, { array: 'purchases' }),
    ).toEqual([
      {
        external_id: 'kim',
        product_id: '1',
        currency: 'EUR',
        price: 42.5,
        quantity: 2,
        time: '2026-01-01T00:00:00Z',
        properties: { size: 'XL', left: 3 },
      },
    ]);
  });

  it('accepts aliases, and dots in attribute names', async () => {
    expect(
      await objects('user_alias.alias_name,user_alias.alias_label,properties.a,__proto__\nn,l,1,2\n'),
    ).toEqual([
      JSON.parse('{"user_alias":{"alias_name":"n","alias_label":"l"},"properties.a":"1","__proto__":"2"}'),
    ]);
  });

  it('parses custom delimiters, BOM, quotes and line breaks', async () => {
    const text = '\ufeffexternal_id;name\nkim;"Kim; ""the"" first\nand last"\njo;Jo\n';
    expect(await read(text, { delimiter: ';' })).toEqual([
      { line: 3, object: { external_id: 'kim', name: 'Kim; "the" first\nand last' } },
      { line: 4, object: { external_id: 'jo', name: 'Jo' } },
    ]);
  });

  it('is parsed equally for any split into chunks', async () => {
    const text = '\ufeff"external_id",name\nkim,"Kim, Łódź"\njo,Jö\nbo,"€\n😀"\n';
    const whole = await read(text);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 40 }), async (chunk) => {
        expect(await read(text, {}, chunk)).toEqual(whole);
      }),
    );
  });
});

describe('an invalid row is rejected by its line, and other rows are accepted', () => {
  it.each([
    ['kim', 'expected 3 cells as in the header, got 1', { external_id: 'kim' }],
    ['kim,1,true,more', 'expected 3 cells as in the header, got 4', { external_id: 'kim', n: 1, b: true }],
    ['kim,one,true', 'the column "n:number" expects a number', { external_id: 'kim', n: 'one', b: true }],
    ['kim,1,yes', 'the column "b:boolean" expects a boolean', { external_id: 'kim', n: 1, b: 'yes' }],
  ])('%s, with the parsed part', async (row, reason, object) => {
    expect(await read(`external_id,n:number,b:boolean\n${row}\njo,1,false\n`)).toEqual([
      { line: 2, array: 'attributes', reason, object },
      { line: 3, object: { external_id: 'jo', n: 1, b: false } },
    ]);
  });

  it('if it is invalid UTF-8', async () => {
    const text = Buffer.concat([Buffer.from('external_id,name\nkim,'), Buffer.from('J\xf6rg\n', 'latin1')]);
    expect(await read(text)).toEqual([{ line: 2, array: 'attributes', reason: 'a row must be UTF-8' }]);
  });
});

describe('a CSV is rejected completely', () => {
  it.each([
    [
      'external_id,age:int\nkim,3\n',
      'column "age:int" has the type "int"; write text, number, boolean, json',
    ],
    ['external_id,,age\nkim,,3\n', 'column 2 has no name'],
    ['external_id,age,age:number\nkim,1,2\n', 'expected distinct columns, got "age" twice'],
    ['external_id;age\nkim;3\n', 'the header has one column, "external_id;age"; set the delimiter'],
    ['external_id,name\nkim,"Kim\njo,Jo\n', 'a quote is not closed, or is within a cell'],
    ['external_id,name\nkim,Kim "K" Doe,\n', 'a quote is not closed, or is within a cell'],
  ])('if the input is %j', async (text, problem) => {
    await expect(read(text)).rejects.toThrow(problem);
  });

  it('without quoting its cells', async () => {
    const error = await read('external_id,name\nkim,Secret "S" Name\n').catch((reason) => reason);
    expect(error.message).toMatch(/^line 2: /);
    expect(error.message).not.toMatch(/Secret|kim/);
  });

  it('if its header is invalid UTF-8', async () => {
    await expect(read(Buffer.from('external_id,name\n', 'utf16le'))).rejects.toThrow(
      /not UTF-8; save the file/,
    );
    await expect(read(Buffer.from('external_id,pr\xe9nom\n', 'latin1'))).rejects.toThrow(
      /not UTF-8; save the file/,
    );
  });
});
