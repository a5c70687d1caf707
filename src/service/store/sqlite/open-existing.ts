import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** Opens a file that a service made. One that is not there is named; SQLite would make it, or not say which. */
export const openExisting = (file: string, { readOnly }: { readOnly: boolean }): DatabaseSync => {
  if (!existsSync(file)) throw new Error(`${file} does not exist`);
  return new DatabaseSync(file, { readOnly });
};
