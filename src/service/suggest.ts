/** Maximum edits between a typo and the intended name. */
const MAX_EDITS = 2;
/** Maximum length of a text that is considered a typo. */
const MAX_LETTERS = 64;
/** Maximum names compared, from the start of the list. */
const MAX_NAMES = 1_000;

/** Rows of `editDistance`, reused because `suggest` compares a name with up to a thousand others. */
let above = new Uint8Array(MAX_LETTERS + 1);
let row = new Uint8Array(MAX_LETTERS + 1);

/**
 * Returns the edit distance of two texts, or a number above `most`. Computes only cells within `most` of the diagonal, because
 * paths through other cells have more edits.
 */
const editDistance = (from: string, to: string, most: number): number => {
  const tooMany = most + 1;
  if (Math.abs(from.length - to.length) > most) return tooMany;
  for (let j = 0; j <= to.length; j += 1) above[j] = Math.min(j, tooMany);
  for (let i = 1; i <= from.length; i += 1) {
    const letter = from.charCodeAt(i - 1);
    const first = Math.max(1, i - most);
    const last = Math.min(to.length, i + most);
    row[first - 1] = first === 1 ? Math.min(i, tooMany) : tooMany;
    let fewest = row[first - 1]!;
    for (let j = first; j <= last; j += 1) {
      const changed = above[j - 1]! + (letter === to.charCodeAt(j - 1) ? 0 : 1);
      const count = Math.min(changed, above[j]! + 1, row[j - 1]! + 1, tooMany);
      row[j] = count;
      if (count < fewest) fewest = count;
    }
    if (fewest > most) return tooMany;
    if (last < to.length) row[last + 1] = tooMany;
    [above, row] = [row, above];
  }
  return above[to.length]!;
};

const plain = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** Returns the closest name, or `null` if none is close. Ignores case, spaces and punctuation. */
export const suggest = (name: string, names: Iterable<string>): string | null => {
  if (name.length > MAX_LETTERS) return null;
  const written = plain(name);
  let best: string | null = null;
  let fewest = Math.min(MAX_EDITS, Math.floor(name.length / 2));
  let compared = 0;
  for (const each of names) {
    compared += 1;
    if (compared > MAX_NAMES) break;
    if (each.length > MAX_LETTERS) continue;
    const count = editDistance(written, plain(each), fewest);
    if (count > fewest || (best !== null && count === fewest)) continue;
    best = each;
    fewest = count;
  }
  return best;
};
