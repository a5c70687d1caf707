import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Locked {
  optionalDependencies?: Record<string, string>;
}

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Record<string, Locked>;
};

// npm 11 refuses the whole of `npm ci` where an optional dependency of another platform is not in the lock file,
// which happens when a registry did not have that platform's package on the day the lock file was made.
test('the lock file knows every optional dependency of every platform', () => {
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !packages[`${path}/node_modules/${name}`] && !packages[`node_modules/${name}`])
      .map((name) => `${path} → ${name}`),
  );
  expect(missing).toEqual([]);
});
