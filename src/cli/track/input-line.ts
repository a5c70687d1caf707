import type { InputArray } from '../../protocol/index.ts';
import type { TrackObject } from '../../server/index.ts';

/** Object of a line. `index` is its position in the line's array, if any. */
export type LineObject = Pick<TrackObject, 'array' | 'object'> & { index?: number };

/** Parsed content of a line, or the reason that it is invalid with its readable part. Lines are numbered from 1. */
export type InputLine = { line: number } & (
  | { objects: LineObject[] }
  | { reason: string; array?: InputArray; object?: unknown }
);
