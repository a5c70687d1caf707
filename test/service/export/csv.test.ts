import { expect, test } from 'vitest';
import { formatCsvCell, parseCsvCell } from '../../../src/service/index.ts';
import fc, { times } from '../../helpers/property.ts';

test.each(['=1+1', "'-20 %' nur heute", "'=x", '+49', "' = a", "'hello'", "''", '＝1', '\tx'])(
  'a cell with %j is read as it was written, and cannot be executed',
  (text) => {
    const cell = formatCsvCell(text).replace(/^"/, '');
    expect(cell).not.toMatch(/^\s*[=+\-@＝＋－＠\t\r\n]/);
    expect(parseCsvCell(cell.replace(/"$/, ''))).toBe(text);
  },
);

test('any text without quotation marks is read as it was written', () => {
  const character = fc.constantFrom("'", '=', '-', ' ', '\t', '@', 'a', '％', '＋');
  fc.assert(
    fc.property(fc.string({ unit: character, maxLength: 6 }), (text) => {
      expect(parseCsvCell(formatCsvCell(text).replaceAll('"', ''))).toBe(text);
    }),
    { numRuns: times(1_000) },
  );
});
