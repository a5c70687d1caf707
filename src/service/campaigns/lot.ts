import { hash } from 'node:crypto';

/** A number from 0 up to 1 that is always the same for the same words, and unrelated to that of other words. */
export const lot = (...words: string[]): number => {
  // The first 48 bits; JSON keeps ['a', 'bc'] and ['ab', 'c'] apart.
  const digest = hash('sha256', JSON.stringify(words), 'hex');
  return Number.parseInt(digest.slice(0, 12), 16) / 2 ** 48;
};

/** Draws one of weighted entries; `undefined` where no weight is above 0. */
export const drawn = <T extends { weight: number }>(entries: readonly T[], chance: number): T | undefined => {
  const total = entries.reduce((sum, { weight }) => sum + weight, 0);
  let rest = chance * total;
  for (const entry of entries) {
    rest -= entry.weight;
    if (rest < 0) return entry;
  }
  return entries.findLast(({ weight }) => weight > 0);
};
