const MAX_PATTERN_CHARACTERS = 200;
/** Two open repetitions over the longest attribute text are some ten thousand steps; each more multiplies that. */
const MAX_REPETITIONS = 2;

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
    .replace(/\[[^\]]*\]/g, 'x');
  if (bare.includes('\u0001')) return 'expected a pattern without back-references';
  if (/\)[*+?{]/.test(bare)) return 'expected a pattern without a repeated group';
  if ((bare.match(/[*+]|\{\d*,\d*\}/g) ?? []).length > MAX_REPETITIONS) {
    return `expected at most ${MAX_REPETITIONS} repetitions`;
  }
  return undefined;
};
