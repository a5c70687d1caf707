/**
 * Returns a key for a version such as `10.2.0`. The keys sort lexicographically in release order. A release sorts after its
 * release candidates, such as `1.0.0-rc.1`.
 */
export const versionKey = (version: string): string => {
  const [release = '', ...candidate] = version.trim().replace(/^v/i, '').split('+')[0]!.split('-');
  const padded = (parts: string) =>
    parts
      .split('.')
      // In SemVer, numbers sort before words.
      .map((part) => (/^\d+$/.test(part) ? part.padStart(12, '0') : `:${part}`))
      .join('.');
  // Missing parts are 0, so `10` equals `10.0.0`.
  const numbers = [...release.split('.'), '0', '0'].slice(0, Math.max(3, release.split('.').length));
  return `${padded(numbers.join('.'))}-${candidate.length > 0 ? padded(candidate.join('-')) : '~'}`;
};

const MAX_VERSION_CHARACTERS = 100;

export const isVersion = (operand: unknown): operand is string =>
  typeof operand === 'string' && /^v?\d/i.test(operand) && operand.length <= MAX_VERSION_CHARACTERS;
