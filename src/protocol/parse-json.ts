import type { JsonValue } from './json-value.ts';

/**
 * Matches any text that may contain a number that JavaScript cannot represent. Other texts are parsed without a reviver, which
 * costs several times as much.
 */
const MAY_BE_INEXACT = /\d{16}|\d[eE]\+?\d{3}/;
const INTEGER = /^-?\d+$/;

const keepDigits = (name: string, value: unknown, { source }: { source?: string } = {}): unknown => {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  if (!Number.isFinite(value)) {
    throw new RangeError(`${name === '' ? 'the value' : `"${name}"`} is ${source}, too large for a number`);
  }
  return source !== undefined && INTEGER.test(source) ? source : value;
};

/**
 * Parses JSON from programs in other languages. Integers beyond 2^53 become strings, because a number would lose precision.
 * Throws `SyntaxError`, or `RangeError` if a number would be infinite.
 */
export const parseJson = (text: string): JsonValue =>
  MAY_BE_INEXACT.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
