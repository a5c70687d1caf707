import { existsSync, readFileSync } from 'node:fs';

/** Where the description of the package is, seen from the built file and from the source. */
const CANDIDATES = ['../package.json', '../../package.json'];

/** The version of this package. */
export const version = (): string => {
  const file = CANDIDATES.map((path) => new URL(path, import.meta.url)).find((url) => existsSync(url));
  // An application that is bundled with the package leaves its description behind.
  if (!file) return 'unknown';
  const manifest: { version: string } = JSON.parse(readFileSync(file, 'utf8'));
  return manifest.version;
};
