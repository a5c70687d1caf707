/** Size, sum and sum of squares of a metric in a sample of users. */
export interface Sample {
  n: number;
  sum: number;
  sumOfSquares: number;
}

/** Difference of two means with an always-valid confidence interval. */
export interface Difference {
  estimate: number;
  low: number;
  high: number;
}

/** Returns the sample of a binary metric. */
export const proportion = (n: number, successes: number): Sample => ({
  n,
  sum: successes,
  sumOfSquares: successes,
});

export const getMean = ({ n, sum }: Sample): number => (n === 0 ? 0 : sum / n);

const getVariance = (sample: Sample): number => {
  const { n, sumOfSquares } = sample;
  return n < 2 ? 0 : Math.max(0, (sumOfSquares - n * getMean(sample) ** 2) / (n - 1));
};

/**
 * Returns the half-width of an asymptotic confidence sequence (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas: Time-uniform
 * central limit theory and asymptotic confidence sequences, 2024). The sequence is valid at any number of looks, so it is wider
 * than a fixed-sample interval. It is tightest at `plannedN`.
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

/** Returns the difference of the means of `one` and `other`. */
export const difference = (one: Sample, other: Sample, plannedN: number, alpha: number): Difference => {
  const estimate = getMean(one) - getMean(other);
  const standardError = Math.sqrt(getVariance(one) / one.n + getVariance(other) / other.n);
  const half = sequenceHalfWidth(standardError, one.n + other.n, plannedN, alpha);
  return { estimate, low: estimate - half, high: estimate + half };
};
