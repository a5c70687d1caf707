import type { InputArray, TrackErrorEntry } from '../../protocol/index.ts';

/** Collects the entries of an answer's `errors`; the caller says first which object it checks. */
export interface ErrorCollector {
  readonly entries: TrackErrorEntry[];
  at(array: InputArray, index: number): void;
  add(type: string): void;
}

/**
 * Entries of one object. The contract has no bound for an object with several faults: one whose 40,000 values are all
 * bad would be answered with megabytes, which no client reads and all others wait for. The first ones say what is wrong.
 */
const MAX_PER_OBJECT = 100;
/** Entries of all objects together. The first fault of each object is always reported. */
const MAX_ENTRIES = 1_000;

export const createErrorCollector = (): ErrorCollector => {
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
