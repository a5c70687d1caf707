/** More slips than these make another word. */
const MAX_SLIPS = 2;
/** A longer text is no word that somebody has mistyped. The time of a comparison grows with the square of the length. */
const MAX_LETTERS = 64;
/** Of a longer list the first names are compared. */
const MAX_NAMES = 1_000;

/** Letters to put in, to leave out or to change until one text is the other; as soon as there are more than `most`, a number above it. */
const slips = (from: string, to: string, most: number): number => {
  if (Math.abs(from.length - to.length) > most) return most + 1;
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1];
    for (let j = 1; j <= to.length; j += 1) {
      const changed = row[j - 1]! + (letter === to[j - 1] ? 0 : 1);
      next.push(Math.min(changed, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
    if (Math.min(...row) > most) return most + 1;
  }
  return row[to.length]!;
};

const plain = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** The name that was probably meant; `null` where none is near. Capitals, spaces and underscores make no difference. */
export const nearest = (name: string, names: Iterable<string>): string | null => {
  if (name.length > MAX_LETTERS) return null;
  const written = plain(name);
  let best: string | null = null;
  let fewest = Math.min(MAX_SLIPS, name.length / 2);
  let compared = 0;
  for (const each of names) {
    compared += 1;
    if (compared > MAX_NAMES) break;
    if (each.length > MAX_LETTERS) continue;
    const count = slips(written, plain(each), fewest);
    if (count > fewest || (best !== null && count === fewest)) continue;
    best = each;
    fewest = count;
  }
  return best;
};
