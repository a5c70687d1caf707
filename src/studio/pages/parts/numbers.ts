const whole = new Intl.NumberFormat('en-GB');
const money = new Intl.NumberFormat('en-GB', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const percent = new Intl.NumberFormat('en-GB', {
  style: 'percent',
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

export const countText = (count: number): string => whole.format(count);
export const moneyText = (amount: number): string => money.format(amount);
/** `7.1 %`, always with one digit, so that columns can be compared; `–` of nobody. */
export const shareText = (part: number, of: number): string =>
  of === 0 ? '–' : percent.format(part / of).replace('%', ' %');
const lift = new Intl.NumberFormat('en-GB', {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
});
/** `+20 %`, of 0.2. */
export const liftText = (share: number): string => lift.format(share).replace('%', ' %');
