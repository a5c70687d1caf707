import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { openStore, type Store } from '../service/index.ts';
import { sentenceOf } from './sentence.ts';

/** An error must not show a login: a URL is shown by its host and path, another text as it is. */
const shownAddress = (db: string): string => {
  if (!db.includes('://')) return db;
  // A text that cannot be parsed is not shown: a password with a slash in it is no URL any more.
  if (!URL.canParse(db)) return db.replace(/:\/\/.*/s, '://…');
  const { protocol, host, pathname } = new URL(db);
  return `${protocol}//${host}${pathname}`;
};

/** SQLite's code for a file that it cannot open; it does not say why. */
const SQLITE_CANTOPEN = 14;

const whyNot = (db: string, error: unknown): string => {
  if (!(error instanceof Error && 'errcode' in error && error.errcode === SQLITE_CANTOPEN))
    return sentenceOf(error);
  if (db.includes('://')) return 'expected a file, :memory: or a postgres:// URL';
  try {
    accessSync(dirname(db), constants.W_OK);
    if (statSync(db, { throwIfNoEntry: false })?.isDirectory()) return 'it is a folder';
    accessSync(db, constants.R_OK | constants.W_OK);
  } catch (problem) {
    return sentenceOf(problem);
  }
  return sentenceOf(error);
};

/** Opens the store of a service, or says in one sentence why not. */
export const openDatabase = async (db: string): Promise<Store> => {
  try {
    return await openStore(db);
  } catch (error) {
    throw new Error(`the database ${shownAddress(db)} cannot be used: ${whyNot(db, error)}`, {
      cause: error,
    });
  }
};
