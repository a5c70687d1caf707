import { existsSync, readFileSync } from 'node:fs';

/** Paths of `package.json`, relative to the built file and to the source. */
const CANDIDATES = ['../package.json', '../../package.json'];

/** Returns the version of this package; `'unknown'` if it is bundled without its `package.json`. */
export const version = (): string => {
  const file = CANDIDATES.map((path) => new URL(path, import.meta.url)).find((url) => existsSync(url));
  if (!file) return 'unknown';
  const manifest: { version: string } = JSON.parse(readFileSync(file, 'utf8'));
  return manifest.version;
};
