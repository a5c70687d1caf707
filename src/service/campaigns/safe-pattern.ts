const MAX_PATTERN_CHARACTERS = 200;
/**
 * In how many ways a match may go through a pattern with no, one or two open repetitions. Over the longest attribute
 * text each way through two of them is some ten thousand steps from each place; a third multiplies that.
 */
const MAX_WAYS = [1_024, 64, 4];

/** Alternatives and optional parts in a row multiply: each is tried with each way through the others. */
const waysThrough = (bare: string): number => {
  // The question marks that make nothing optional: of groups, and of lazy quantifiers.
  const signs = bare.replace(/\(\?/g, '(').replace(/([*+?]|\{\d+(?:,\d*)?\})\?/g, '$1');
  let ways = 1;
  const branches = [1];
  for (const sign of signs) {
    if (sign === '(') branches.push(1);
    else if (sign === '|') branches[branches.length - 1]! += 1;
    else if (sign === ')') ways *= branches.pop()!;
    else if (sign === '?') ways *= 2;
  }
  return ways * branches[0]!;
};

/** Why a `$regex` may not be used, or `undefined`: whatever a user's text is, a match must end soon. */
export const patternProblem = (pattern: unknown): string | undefined => {
  if (typeof pattern !== 'string') return 'expected a pattern as text';
  if (pattern.length > MAX_PATTERN_CHARACTERS) return `expected at most ${MAX_PATTERN_CHARACTERS} characters`;
  try {
    new RegExp(pattern);
  } catch {
    return 'expected a regular expression, got one that cannot be read';
  }
  // Escapes and character classes may hold any of the signs looked for below.
  const bare = pattern
    .replace(/\\[1-9]|\\k</g, '\u0001')
    .replace(/\\./g, 'x')
    .replace(/\[[^\]]*\]?/g, 'x');
  if (bare.includes('\u0001')) return 'expected a pattern without back-references';
  if (/\)[*+?{]/.test(bare)) return 'expected a pattern without a repeated group';
  const repetitions = (bare.match(/[*+]|\{\d*,\d*\}/g) ?? []).length;
  const maxWays = MAX_WAYS[repetitions];
  if (maxWays === undefined) return `expected at most ${MAX_WAYS.length - 1} repetitions`;
  if (waysThrough(bare) > maxWays) {
    return `expected fewer alternatives and optional parts: at most ${maxWays} ways through them`;
  }
  return undefined;
};
