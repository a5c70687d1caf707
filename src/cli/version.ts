import { existsSync, readFileSync } from 'node:fs';

/** From the built file and from the source: the package's own description is one folder up, or two. */
const PLACES = ['../package.json', '../../package.json'];

/** The version of this package. */
export const version = (): string => {
  const file = PLACES.map((place) => new URL(place, import.meta.url)).find((url) => existsSync(url));
  if (!file) throw new Error('the description of the package, package.json, is not there');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
};
