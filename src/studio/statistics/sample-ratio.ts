/** Coefficients of Lanczos' approximation for g = 7, exact to 15 digits. */
const G = 7;
const COEFFICIENTS = [
  0.999_999_999_999_809_93, 676.520_368_121_885_1, -1_259.139_216_722_402_8, 771.323_428_777_653_13,
  -176.615_029_162_140_6, 12.507_343_278_686_905, -0.138_571_095_265_720_12, 9.984_369_578_019_572e-6,
  1.505_632_735_149_311_6e-7,
];

/** The natural logarithm of the gamma function, for numbers above 0. */
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
 * How tightly the alternatives keep to the expected shares. The loose ones find a group that is missing after some dozen
 * people, the tight ones a deviation of a per cent among many thousands.
 */
const CONCENTRATIONS = [10, 100, 1_000, 10_000];

/** How much better shares drawn around the expected ones explain the counts than the expected shares do, as a logarithm. */
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
 * How likely counts so far from their expected shares are by chance: the sequential test of Lindon and Malek
 * (Anytime-valid inference for multinomial count data, 2022), which stays right when one looks every day. It averages the
 * Bayes factors of several alternatives, which is a martingale as each of them is. 1 for no doubt at all; below 0.01
 * something is wrong with how people were divided, or with what was counted. `docs/studio.md` has its power.
 */
export const sampleRatioMismatchPValue = (counts: readonly number[], shares: readonly number[]): number => {
  const factors = CONCENTRATIONS.map((each) => logBayesFactor(counts, shares, each));
  const most = Math.max(...factors);
  // Of numbers so large only the differences of their logarithms can be raised.
  const mean = factors.reduce((sum, each) => sum + Math.exp(each - most), 0) / factors.length;
  return Math.min(1, Math.exp(-most) / mean);
};
