import { logGamma } from './log-gamma.ts';

/** How tightly the alternative keeps to the expected shares: a deviation of a per cent or so is looked for. */
const CONCENTRATION = 10_000;

/**
 * How likely counts so far from their expected shares are by chance: the sequential test of Lindon and Malek
 * (Anytime-valid inference for multinomial count data, 2022), which stays right when one looks every day. 1 for no doubt
 * at all; below 0.01 something is wrong with how people were divided, or with what was counted.
 */
export const sampleRatioP = (counts: readonly number[], shares: readonly number[]): number => {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const alphas = shares.map((share) => share * CONCENTRATION);
  const asExpected = counts.reduce(
    (sum, count, index) => sum + (count > 0 ? count * Math.log(shares[index]!) : 0),
    0,
  );
  const otherwise =
    counts.reduce(
      (sum, count, index) => sum + logGamma(alphas[index]! + count) - logGamma(alphas[index]!),
      0,
    ) +
    logGamma(CONCENTRATION) -
    logGamma(CONCENTRATION + total);
  return Math.min(1, Math.exp(asExpected - otherwise));
};
