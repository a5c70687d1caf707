/** Numbers from `first` to `last`, both included. */
export type Range = [first: number, last: number];

/** Whether a number is in one of the ranges. Asked in rising order alone: each range is looked at once. */
export const createRanges = (ranges: Iterable<Range>): ((number: number) => boolean) => {
  const sorted = [...ranges].sort(([one], [other]) => one - other);
  let at = 0;
  return (number) => {
    while (at < sorted.length && sorted[at]![1] < number) at += 1;
    return at < sorted.length && sorted[at]![0] <= number;
  };
};
