import { CURRENCY } from './catalogue.ts';

const whole = new Intl.NumberFormat('en-IE', {
  style: 'currency',
  currency: CURRENCY,
  minimumFractionDigits: 0,
});

/** `€24`, in the language of the shop. */
export const money = (amount: number): string => whole.format(amount);
