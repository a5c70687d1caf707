import { describe, expect, test } from 'vitest';
import { scanJson } from '../../../src/service/workspace/issues.ts';
import fc from '../../helpers/property.ts';

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe('invalid JSON', () => {
  test.each([
    ['', 'line 1 column 1'],
    ['{\n  "a": ["b", "c",]\n}', 'line 2 column 18'],
    ['{ "a": 1, }', 'line 1 column 11'],
    ['{\n  "banners": True\n}', 'line 2 column 14'],
    ['{ "a": 1 "b": 2 }', 'line 1 column 10'],
    ['{ "a": \'b\' }', 'line 1 column 8'],
    ['{ "a": "b }', 'line 1 column 8'],
    ['{ "a": 01 }', 'line 1 column 9'],
    ['{ a: 1 }', 'line 1 column 3'],
    ['[1, 2', 'line 1 column 6'],
    ['{} {}', 'line 1 column 4'],
  ])('in %j starts at %s', (text, place) => {
    expect(scanJson(text).fault).toBe(place);
  });

  test('is detected exactly as by JSON.parse', () => {
    const texts = fc
      .tuple(
        fc.json(),
        fc.nat(),
        fc.nat({ max: 2 }),
        fc.constantFrom('', ',', '"', '}', ']', '\\', 'u', 'B', '\n', '\u007f', '\ud800', '1', '-', ' '),
      )
      .map(([json, place, gone, put]) => {
        const at = place % (json.length + 1);
        return json.slice(0, at) + put + json.slice(at + gone);
      });
    fc.assert(
      fc.property(texts, (text) => {
        expect(scanJson(text).fault === null).toBe(isJson(text));
      }),
    );
  });
});

test('reports duplicate members at any depth', () => {
  const text = '{ "a": [{ "b": 1 }, { "b": 1, "c": { "d": "d", "\\u0064": 2 } }], "a": {} }';
  expect(scanJson(text).repeated).toEqual([['a', 1, 'c', 'd'], ['a']]);
});
