export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Formats a count with its noun, such as `1 user` or `1,200 users`. */
export const formatCount = (count: number, noun: string): string =>
  `${count.toLocaleString('en-GB')} ${noun}${count === 1 ? '' : 's'}`;
