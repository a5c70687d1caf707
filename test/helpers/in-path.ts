import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where a program is, or `undefined` where the machine does not have it. */
export const inPath = (name: string): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));
