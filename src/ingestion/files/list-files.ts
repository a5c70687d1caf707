import { readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { SourceError } from '../source-error.ts';

const escaped = (text: string) => text.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&');

/** Returns the pattern as a `RegExp`. As in a shell, `*` does not match a leading dot, which often marks unfinished files. */
const toPattern = (name: string): RegExp =>
  new RegExp(`^${name.startsWith('*') ? '(?!\\.)' : ''}${name.split('*').map(escaped).join('.*')}$`, 's');

/** Rejects pipes, because they may never end, and links out of the folder, because they may expose files of the service. */
const checkFile = (path: string): void => {
  const folder = realpathSync(dirname(path));
  const target = realpathSync(path);
  if (!target.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)) {
    throw new SourceError(`file ${basename(path)} is a link to a file outside its folder`);
  }
  if (!statSync(target).isFile()) throw new SourceError(`file ${basename(path)} is not a regular file`);
};

/** Returns the files that match a pattern, sorted by name. Throws `SourceError` if there are none. */
export const listFiles = ({ folder, files }: { folder: string; files: string }): string[] => {
  const path = resolve(folder, files);
  const names = basename(path).includes('*')
    ? readdirSync(dirname(path)).filter((name) => toPattern(basename(path)).test(name))
    : [basename(path)];
  if (names.length === 0) throw new SourceError(`no file matches ${files}`);
  const paths = names.sort().map((name) => join(dirname(path), name));
  for (const each of paths) {
    try {
      checkFile(each);
    } catch (error) {
      throw SourceError.from(error, `file ${basename(each)}: `);
    }
  }
  return paths;
};
