import { describe, expect, it } from 'vitest';
import { fitsBytes, fitsCharacters, isStorableText, utf8Bytes } from '../../src/protocol/index.ts';
import fc from '../helpers/property.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
);

describe('text length', () => {
  it('counts bytes as UTF-8', () => {
    expect(['a', 'é', '€', '😀', ''].map(utf8Bytes)).toEqual([1, 2, 3, 4, 0]);
  });

  it('counts a code point as one character, regardless of its number of code units', () => {
    expect(fitsCharacters('😀'.repeat(255), 255)).toBe(true);
    expect(fitsCharacters(`${'😀'.repeat(255)}x`, 255)).toBe(false);
    expect(fitsCharacters('x'.repeat(256), 255)).toBe(false);
    expect(fitsCharacters('', 0)).toBe(true);
  });

  it('stops at the exact byte', () => {
    expect(fitsBytes('é'.repeat(493), 986)).toBe(true);
    expect(fitsBytes(`${'é'.repeat(493)}x`, 986)).toBe(false);
  });

  it('returns the same as a full count, with or without shortcuts', () => {
    fc.assert(
      fc.property(text, fc.nat({ max: 120 }), (value, most) => {
        expect(fitsBytes(value, most)).toBe(Buffer.byteLength(value) <= most);
        expect(fitsCharacters(value, most)).toBe([...value].length <= most);
      }),
    );
  });
});

describe('text that both stores can keep', () => {
  it('does not contain U+0000 or a lone surrogate', () => {
    expect(['', 'plain', 'é😀', '\u0001'].map(isStorableText)).toEqual([true, true, true, true]);
    expect(['a\0b', '\ud83d', 'x\ude00y'].map(isStorableText)).toEqual([false, false, false]);
  });

  it('is exactly the text that round-trips through UTF-8', () => {
    const anyUnits = fc.string({
      unit: fc.integer({ min: 1, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      maxLength: 20,
    });
    fc.assert(
      fc.property(anyUnits, (value) => {
        expect(isStorableText(value)).toBe(Buffer.from(value, 'utf8').toString('utf8') === value);
      }),
    );
  });
});
