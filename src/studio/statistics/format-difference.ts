/** Returns a format with the minus sign of typography. `Intl` prints a hyphen. */
const createFormat = (options: Intl.NumberFormatOptions) => {
  const format = new Intl.NumberFormat('en-GB', options);
  return (value: number): string => format.format(value).replace('-', '−');
};
const digits = (count: number) => ({ minimumFractionDigits: count, maximumFractionDigits: count });
const SIGNED = { signDisplay: 'exceptZero' } as const;

/** Formats an amount without its currency, such as `84.00`. */
export const formatMoney = createFormat(digits(2));
export const formatSignedMoney = createFormat({ ...digits(2), ...SIGNED });
/** Formats percentage points without their unit, such as `1.7`. */
export const formatPoints = createFormat(digits(1));
export const formatSignedPoints = createFormat({ ...digits(1), ...SIGNED });
/** Formats a lift, such as `+20%` for 0.2. */
export const formatLift = createFormat({ style: 'percent', ...SIGNED });
