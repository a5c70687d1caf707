const whole = new Intl.NumberFormat('en-GB');
/** Formats a count, such as `1,200`. */
export const formatNumber = (count: number): string => whole.format(count);

/** Formats a count with its noun, such as `1 user` or `1,200 users`. */
export const formatCount = (count: number, noun: string): string =>
  `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`;

const percent = new Intl.NumberFormat('en-GB', {
  style: 'percent',
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});
/** Formats a rate from 0 to 1, such as `7.1%`. */
export const formatPercent = (rate: number): string => percent.format(rate);
