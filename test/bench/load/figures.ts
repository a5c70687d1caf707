export const median = (values: number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};

/** Lowest to highest. */
export const spreadOf = (values: number[]): string =>
  `${Math.round(Math.min(...values))}–${Math.round(Math.max(...values))}`;

export const perSecond = (value: number): string => `${Math.round(value).toLocaleString('en')} req/s`;
export const ms = (value: number): string => `${value.toFixed(1)} ms`;
export const times = (value: number): string => `${value.toFixed(2)} ×`;
