import type { InputArray } from '../../protocol/index.ts';
import type { TrackObject } from '../../server/index.ts';

/** An object of a line; `index` is its position in the line's array, where there is one. */
export type LineObject = Pick<TrackObject, 'array' | 'object'> & { index?: number };

/**
 * What a line of the input holds, or why nothing of it can be sent: then with what could be read of it, if anything.
 * Lines are counted from 1.
 */
export type InputLine = { line: number } & (
  | { objects: LineObject[] }
  | { reason: string; array?: InputArray; object?: unknown }
);

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Bytes as text; `null` where they are not UTF-8. Names of users in another encoding must not become others: `J\xf6rg`
 * and `J\xe4rg` are not one. A byte order mark in front, which some editors put there, is left out.
 */
export const decoded = (bytes: Uint8Array): string | null => {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
};
