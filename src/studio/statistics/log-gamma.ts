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
