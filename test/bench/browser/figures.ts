/** The middle of the values; of an even number of them the lower middle. */
export const median = (values: number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? Number.NaN;

/** The value that the given share (0 to 1) of all values does not exceed. */
export const quantile = (values: number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ??
  Number.NaN;

const number = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** Three significant digits with a unit: `12.3 ms`. Milliseconds below a tenth become microseconds. */
export const milliseconds = (ms: number): string =>
  ms < 0.1 ? `${number.format(ms * 1000)} µs` : `${number.format(ms)} ms`;
export const bytes = (count: number): string => `${whole.format(count)} B`;
export const times = (ratio: number): string => `${number.format(ratio)} ×`;
/** The lower and upper decile, to show how far to trust a median. */
export const spread = (values: number[], format: (value: number) => string): string =>
  `${format(quantile(values, 0.1))} – ${format(quantile(values, 0.9))}`;
