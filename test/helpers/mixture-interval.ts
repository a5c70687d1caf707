const STEP = 0.002;
const WIDEST = 12;

/** Likelihood ratio of the z-score under a normal mixture of differences, by numerical integration. */
const mixtureRatio = (z: number, scaled: number): number => {
  let sum = 0;
  for (let u = -WIDEST; u <= WIDEST; u += STEP) {
    sum += Math.exp(u * Math.sqrt(scaled) * z - (u * u * scaled) / 2 - (u * u) / 2);
  }
  return (sum * STEP) / Math.sqrt(2 * Math.PI);
};

/**
 * Confidence sequence for a difference of two proportions, from its definition instead of a closed form: it ends where the
 * mixture's likelihood ratio reaches `1 / alpha` (Robbins 1970). It is tightest at `planned` users (Waudby-Smith et al.,
 * 2024).
 */
export const mixtureInterval = (
  one: { n: number; successes: number },
  other: { n: number; successes: number },
  { planned, alpha = 0.05 }: { planned: number; alpha?: number },
): { low: number; high: number } => {
  const shares = [one, other].map(({ n, successes }) => successes / n) as [number, number];
  const variances = [one, other].map(({ n }, arm) => (shares[arm]! * (1 - shares[arm]!)) / (n - 1));
  const spent = -2 * Math.log(alpha);
  const scaled = ((one.n + other.n) * (spent + Math.log(spent + 1))) / planned;
  let [inside, outside] = [0, 10];
  while (outside - inside > 1e-6) {
    const z = (inside + outside) / 2;
    if (mixtureRatio(z, scaled) < 1 / alpha) inside = z;
    else outside = z;
  }
  const half = inside * Math.sqrt(variances[0]! + variances[1]!);
  const difference = shares[0] - shares[1];
  return { low: difference - half, high: difference + half };
};
