/** One group of people: how many, and the sum and the sum of squares of what is measured of each. */
export interface Sample {
  n: number;
  sum: number;
  sumOfSquares: number;
}

/** The difference of two means, and the interval that holds it however often one looks. */
export interface Difference {
  estimate: number;
  low: number;
  high: number;
}

/** Of people who did something or did not: 1 or 0 each. */
export const proportion = (n: number, successes: number): Sample => ({
  n,
  sum: successes,
  sumOfSquares: successes,
});

export const meanOf = ({ n, sum }: Sample): number => (n === 0 ? 0 : sum / n);

const varianceOf = (sample: Sample): number => {
  const { n, sumOfSquares } = sample;
  return n < 2 ? 0 : Math.max(0, (sumOfSquares - n * meanOf(sample) ** 2) / (n - 1));
};

/**
 * Half the width of an asymptotic confidence sequence (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas: Time-uniform
 * central limit theory and asymptotic confidence sequences, 2024). An ordinary interval is right for one look; this one
 * for any number of looks, at the price of being wider. It is narrowest for its size at `plannedN`.
 */
export const sequenceHalfWidth = (
  standardError: number,
  n: number,
  plannedN: number,
  alpha: number,
): number => {
  const spent = -2 * Math.log(alpha);
  const rhoSquared = (spent + Math.log(spent + 1)) / plannedN;
  const scaled = n * rhoSquared;
  return standardError * Math.sqrt(((2 * (scaled + 1)) / scaled) * Math.log(Math.sqrt(scaled + 1) / alpha));
};

/** How much higher the mean of `one` is than that of `other`. */
export const difference = (one: Sample, other: Sample, plannedN: number, alpha: number): Difference => {
  const estimate = meanOf(one) - meanOf(other);
  const standardError = Math.sqrt(varianceOf(one) / one.n + varianceOf(other) / other.n);
  const half = sequenceHalfWidth(standardError, one.n + other.n, plannedN, alpha);
  return { estimate, low: estimate - half, high: estimate + half };
};
