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
