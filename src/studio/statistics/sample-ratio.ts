/** Coefficients of the Lanczos approximation for g = 7, accurate to 15 digits. */
const G = 7;
const COEFFICIENTS = [
  0.999_999_999_999_809_93, 676.520_368_121_885_1, -1_259.139_216_722_402_8, 771.323_428_777_653_13,
  -176.615_029_162_140_6, 12.507_343_278_686_905, -0.138_571_095_265_720_12, 9.984_369_578_019_572e-6,
  1.505_632_735_149_311_6e-7,
];

/** Returns the natural logarithm of the gamma function for x > 0. */
export const logGamma = (x: number): number => {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const z = x - 1;
  const sum = COEFFICIENTS.slice(1).reduce(
    (total, each, index) => total + each / (z + index + 1),
    COEFFICIENTS[0]!,
  );
  const t = z + G + 0.5;
  return 0.5 * Math.log(2 * Math.PI) + (z + 0.5) * Math.log(t) - t + Math.log(sum);
};

/**
 * Concentrations of the Dirichlet alternatives. Low concentrations detect a missing group after some dozen users, high
 * concentrations a deviation of 1% among many thousands.
 */
const CONCENTRATIONS = [10, 100, 1_000, 10_000];

/** Returns the logarithm of the Bayes factor of Dirichlet alternatives around the expected shares against the expected shares. */
const logBayesFactor = (counts: readonly number[], shares: readonly number[], concentration: number) => {
  const total = counts.reduce((sum, count) => sum + count, 0);
  return counts.reduce(
    (sum, count, index) => {
      const alpha = shares[index]! * concentration;
      const asExpected = count > 0 ? count * Math.log(shares[index]!) : 0;
      return sum + logGamma(alpha + count) - logGamma(alpha) - asExpected;
    },
    logGamma(concentration) - logGamma(concentration + total),
  );
};

/**
 * Returns the p-value of the sequential SRM test of Lindon and Malek (Anytime-valid inference for multinomial count data, 2022),
 * valid at any number of looks. Averages the Bayes factors of several alternatives, because a mean of martingales is a
 * martingale. A value of 1 means no evidence; below 0.01, assignment or counting is faulty. For its power, see
 * `docs/reference/studio.md`.
 */
export const sampleRatioMismatchPValue = (counts: readonly number[], shares: readonly number[]): number => {
  const factors = CONCENTRATIONS.map((each) => logBayesFactor(counts, shares, each));
  const most = Math.max(...factors);
  // Uses log-sum-exp to avoid overflow.
  const mean = factors.reduce((sum, each) => sum + Math.exp(each - most), 0) / factors.length;
  return Math.min(1, Math.exp(-most) / mean);
};
