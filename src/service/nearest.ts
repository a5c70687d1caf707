/** More slips than these make another word. */
const MAX_SLIPS = 2;

/** Letters to put in, to leave out or to change until one text is the other. */
const slips = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1];
    for (let j = 1; j <= to.length; j += 1) {
      const changed = row[j - 1]! + (letter === to[j - 1] ? 0 : 1);
      next.push(Math.min(changed, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
};

const plain = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** The name that was probably meant; `null` where none is near. Capitals, spaces and underscores make no difference. */
export const nearest = (name: string, names: Iterable<string>): string | null => {
  let best: string | null = null;
  let fewest = Math.min(MAX_SLIPS, name.length / 2);
  for (const each of names) {
    const count = slips(plain(name), plain(each));
    if (count > fewest || (best !== null && count === fewest)) continue;
    best = each;
    fewest = count;
  }
  return best;
};
