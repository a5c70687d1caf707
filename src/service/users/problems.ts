import type { InputArray, TrackErrorEntry } from '../../protocol/index.ts';

/** Collects the entries of an answer's `errors`; the caller says first which object it checks. */
export interface Problems {
  readonly entries: TrackErrorEntry[];
  at(array: InputArray, index: number): void;
  add(type: string): void;
}

/**
 * Entries of one object. The contract has no bound for an object with several faults: one whose 250,000 values are all
 * bad would be answered with 17 MB, which no client reads and all others wait for. The first ones say what is wrong.
 */
const MAX_PER_OBJECT = 100;
/** And of all objects together, but for the first of each: that an object is at fault is always said. */
const MAX_ENTRIES = 1_000;

export const createProblems = (): Problems => {
  const entries: TrackErrorEntry[] = [];
  let inputArray: InputArray = 'attributes';
  let position = 0;
  let before = 0;
  return {
    entries,
    at(array, index) {
      inputArray = array;
      position = index;
      before = entries.length;
    },
    add(type) {
      const ofObject = entries.length - before;
      if (ofObject > 0 && (ofObject >= MAX_PER_OBJECT || entries.length >= MAX_ENTRIES)) return;
      entries.push({ type, input_array: inputArray, index: position });
    },
  };
};
