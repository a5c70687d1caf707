import type { InputArray } from '../../protocol/index.ts';

/** Object of a line. */
export interface LineObject {
  array: InputArray;
  object: unknown;
  /** Position in the line's array, if any. */
  index?: number;
}

/** Parsed content of a line, or the reason that it is invalid with its readable part. Lines are numbered from 1. */
export type InputLine = { line: number } & (
  | { objects: LineObject[] }
  | { reason: string; array?: InputArray; object?: unknown }
);
