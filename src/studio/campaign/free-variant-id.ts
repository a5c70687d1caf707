import type { VariantText } from './campaign-text.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** An ID for another variant. Those that were published keep theirs, or results would count the new one as the old. */
export const freeVariantId = (used: readonly Pick<VariantText, 'variant_id'>[]): string => {
  const isFree = (id: string) => !used.some(({ variant_id }) => variant_id === id);
  const letter = [...LETTERS].find(isFree);
  if (letter) return letter;
  let number = used.length + 1;
  while (!isFree(`v${number}`)) number += 1;
  return `v${number}`;
};
