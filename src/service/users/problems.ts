import type { InputArray, TrackErrorEntry } from '../../protocol/index.ts';

/** Collects the entries of an answer's `errors`; whoever checks an object says first which one it is. */
export interface Problems {
  readonly entries: TrackErrorEntry[];
  at(array: InputArray, index: number): void;
  add(type: string): void;
}

export const createProblems = (): Problems => {
  const entries: TrackErrorEntry[] = [];
  let inputArray: InputArray = 'attributes';
  let position = 0;
  return {
    entries,
    at(array, index) {
      inputArray = array;
      position = index;
    },
    add: (type) => entries.push({ type, input_array: inputArray, index: position }),
  };
};
