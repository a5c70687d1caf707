import type { InputArray } from '../../protocol/index.ts';
import type { TrackObject } from '../../server/index.ts';

/** An object of a line. `index` is its position in the line's array, if any. */
export type LineObject = Pick<TrackObject, 'array' | 'object'> & { index?: number };

/** Parsed content of an input line, or why it cannot be sent, with the part that could be read. Lines are numbered from 1. */
export type InputLine = { line: number } & (
  | { objects: LineObject[] }
  | { reason: string; array?: InputArray; object?: unknown }
);
