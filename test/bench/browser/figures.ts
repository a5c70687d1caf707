/** Returns the median; the lower one if the number of values is even. */
export const median = (values: number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? Number.NaN;

/** Returns the quantile of `share` (0 to 1). */
export const quantile = (values: number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ??
  Number.NaN;

const number = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** Formats three significant digits with a unit: `12.3 ms`; below 0.1 ms in microseconds. */
export const milliseconds = (ms: number): string =>
  ms < 0.1 ? `${number.format(ms * 1000)} µs` : `${number.format(ms)} ms`;
export const bytes = (count: number): string => `${whole.format(count)} B`;
export const times = (ratio: number): string => `${number.format(ratio)} ×`;
/** Formats the first and ninth decile. */
export const spread = (values: number[], format: (value: number) => string): string =>
  `${format(quantile(values, 0.1))} – ${format(quantile(values, 0.9))}`;
