export const median = (values: number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};

/** Lowest to highest. */
export const getSpread = (values: number[]): string =>
  `${Math.round(Math.min(...values))}–${Math.round(Math.max(...values))}`;

const whole = (value: number) => Math.round(value).toLocaleString('en');
/** Formats requests per second, and objects per second if a request holds several. */
export const perSecond = (value: number, objects?: number): string =>
  `${whole(value)} req/s${objects === undefined ? '' : `, ${whole(value * objects)} objects/s`}`;
export const ms = (value: number): string => `${value.toFixed(1)} ms`;
export const times = (value: number): string => `${value.toFixed(2)} ×`;
