import { utf8Bytes } from './text.ts';

/** Returns whether a value is a JSON object (not `null` or an array). */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns whether a property is present. `null` and `""` count as absent. */
export const isPresent = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** Upper or lower bounds of the bytes per part of a JSON value. */
interface Weights {
  character: number;
  /** Bytes of a number, a boolean or `null`. */
  scalar: number;
  /** Bytes of the brackets, minus one for the comma that the last item lacks. */
  brackets: number;
}

/** `\u0000` takes six bytes for one character. The longest number, such as `-1.2345678901234567e-100`, takes at most 25. */
const MAX_WEIGHTS: Weights = { character: 6, scalar: 25, brackets: 2 };
const MIN_WEIGHTS: Weights = { character: 1, scalar: 1, brackets: 1 };

/** Returns the estimated bytes of a value's JSON. Stops counting above `enough`. */
const estimateBytes = (value: unknown, weights: Weights, enough: number): number => {
  const { character, scalar, brackets } = weights;
  if (typeof value === 'string') return value.length * character + 2;
  let bytes = brackets;
  if (Array.isArray(value)) {
    for (const element of value) {
      bytes += estimateBytes(element, weights, enough - bytes) + 1;
      if (bytes > enough) return bytes;
    }
    return bytes;
  }
  if (!isRecord(value)) return scalar;
  for (const key of Object.keys(value)) {
    bytes += key.length * character + 4 + estimateBytes(value[key], weights, enough - bytes);
    if (bytes > enough) return bytes;
  }
  return bytes;
};

/**
 * Returns whether a value's JSON has at most `maxBytes` bytes. Serializes only if two estimates are inconclusive, because a much
 * larger value, such as one long object referenced a thousand times, may exceed the memory.
 */
export const fitsJson = (value: unknown, maxBytes: number): boolean =>
  estimateBytes(value, MAX_WEIGHTS, maxBytes) <= maxBytes ||
  (estimateBytes(value, MIN_WEIGHTS, maxBytes) <= maxBytes && utf8Bytes(JSON.stringify(value)) <= maxBytes);
