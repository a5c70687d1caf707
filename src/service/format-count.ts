/** Formats a number with its noun, such as `1 request` and `3,000 requests`. */
export const formatCount = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
