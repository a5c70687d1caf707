const MAX_PATTERN_CHARACTERS = 200;
/**
 * Maximum number of match paths for a pattern with zero, one or two open ends. The number of open ends is the number of unbounded
 * repetitions, plus one if the pattern is not anchored. A path with two open ends takes about 30,000 steps in the longest
 * attribute text. A third open end would require millions.
 */
const MAX_WAYS = [1_024, 256, 8];

/**
 * Returns the number of match paths. Alternatives and optional parts multiply, because each is tried with every path through the
 * others.
 */
const waysThrough = (bare: string): number => {
  // Removes question marks of groups and lazy quantifiers, which are not quantifiers themselves.
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

/** Returns whether the pattern has alternatives at the top level. */
const hasBranches = (bare: string): boolean => {
  let depth = 0;
  for (const sign of bare) {
    if (sign === '(') depth += 1;
    else if (sign === ')') depth -= 1;
    else if (sign === '|' && depth === 0) return true;
  }
  return false;
};

/** Cost of a match: `paths × length ^ open ends`. */
export interface PatternCost {
  ways: number;
  openEnds: number;
}

export const countMaxSteps = ({ ways, openEnds }: PatternCost, length: number): number =>
  ways * length ** openEnds;

/**
 * Returns the maximum cost of a `$regex` match, or the reason that the pattern is not allowed. Matching must be fast for any
 * text.
 */
export const patternCost = (pattern: unknown, options: unknown): PatternCost | string => {
  if (typeof pattern !== 'string') return 'expected a pattern as text';
  if (pattern.length > MAX_PATTERN_CHARACTERS) return `expected at most ${MAX_PATTERN_CHARACTERS} characters`;
  try {
    new RegExp(pattern, typeof options === 'string' ? options : undefined);
  } catch {
    return 'expected a regular expression, got one that cannot be read';
  }
  // Removes escapes and character classes, because they may contain the characters searched for below.
  const bare = pattern
    .replace(/\\[1-9]|\\k</g, '\u0001')
    .replace(/\\./g, 'x')
    .replace(/\[[^\]]*\]?/g, 'x');
  if (bare.includes('\u0001')) return 'expected a pattern without back-references';
  if (/\)[*+?{]/.test(bare)) return 'expected a pattern without a repeated group';
  const repetitions = (bare.match(/[*+]|\{\d*,\d*\}/g) ?? []).length;
  // With alternatives or multiline mode, a match may start at other positions.
  const isAnchored = bare.startsWith('^') && !hasBranches(bare) && !String(options).includes('m');
  const openEnds = repetitions + (isAnchored ? 0 : 1);
  const maxWays = MAX_WAYS[openEnds];
  if (maxWays === undefined) {
    return 'expected one repetition, or two in a pattern that begins with ^: write the others as conditions of their own';
  }
  const ways = waysThrough(bare);
  if (ways > maxWays) {
    return `expected fewer alternatives and optional parts: at most ${maxWays} ways through them`;
  }
  return { ways, openEnds };
};
