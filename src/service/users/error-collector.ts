import type { InputArray, TrackErrorEntry } from '../../protocol/index.ts';

/** Collector of the `errors` of a response. The caller first sets the object that it checks. */
export interface ErrorCollector {
  readonly entries: TrackErrorEntry[];
  at(array: InputArray, index: number): void;
  add(type: string): void;
}

/**
 * Maximum number of entries of one object. The contract has no limit, so an object with 40,000 invalid values would produce
 * megabytes that no client reads. The first entries identify the problem.
 */
const MAX_PER_OBJECT = 100;
/** Maximum number of entries of a response. The first error of each object is always reported. */
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
