import { utf8Bytes } from './text.ts';

/** True for what JSON calls an object: not null, not an array. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Of a member: `null` and `""` are as good as absent. */
export const isPresent = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** How many bytes of JSON the parts of a value have: at most, or at least. */
interface Weights {
  character: number;
  /** A number, a boolean or `null`. */
  scalar: number;
  /** Around a list or an object, and after each member the comma that the last has not. */
  brackets: number;
}

/** `\u0000` is six for one character, and `-1.2345678901234567e-100` is the longest number. */
const MAX_WEIGHTS: Weights = { character: 6, scalar: 25, brackets: 2 };
const MIN_WEIGHTS: Weights = { character: 1, scalar: 1, brackets: 1 };

/** The bytes of the value's JSON as the weights have them; stops counting once over `enough`. */
const bytesOf = (value: unknown, weights: Weights, enough: number): number => {
  const { character, scalar, brackets } = weights;
  if (typeof value === 'string') return value.length * character + 2;
  if (typeof value !== 'object' || value === null) return scalar;
  let bytes = brackets;
  if (Array.isArray(value)) {
    for (const element of value) {
      bytes += bytesOf(element, weights, enough - bytes) + 1;
      if (bytes > enough) return bytes;
    }
    return bytes;
  }
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key];
    bytes += key.length * character + 4 + bytesOf(member, weights, enough - bytes);
    if (bytes > enough) return bytes;
  }
  return bytes;
};

/**
 * True when the value's JSON has at most so many bytes. It is made and measured only where two rough counts leave a doubt:
 * of a far larger value, such as one long object in a thousand places, the text may need more memory than there is.
 */
export const fitsJson = (value: unknown, maxBytes: number): boolean =>
  bytesOf(value, MAX_WEIGHTS, maxBytes) <= maxBytes ||
  (bytesOf(value, MIN_WEIGHTS, maxBytes) <= maxBytes && utf8Bytes(JSON.stringify(value)) <= maxBytes);
