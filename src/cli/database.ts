import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { readSecret } from '../secrets/index.ts';
import type { Store } from '../service/index.ts';
import { sentenceOf } from './sentence.ts';

/** `--db` of the commands that read a database. */
export const dbOption = {
  type: 'string',
  description: 'SQLite file or PostgreSQL URL (PLACARD_DB)',
  valueHint: 'FILE|postgres://…',
} as const;

/** A password in a URL, in either place where PostgreSQL takes one. */
const PASSWORD = /^postgres(?:ql)?:\/\/(?:[^@:]*:[^@]+@|.*[?&]password=)/;

/**
 * The database that a command line or the environment names: `--db`, else `PLACARD_DB`, else what stands in the file
 * `PLACARD_DB_FILE`. `undefined` where none does; a variable that is set to nothing is not set.
 */
export const namedDatabase = (option: string | undefined): string | undefined => {
  if (option === '') throw new Error('--db needs a value');
  if (option !== undefined) {
    if (PASSWORD.test(option)) {
      process.stderr.write(
        'placard: everybody on this machine can read the password in --db from the list of processes: put the URL into PLACARD_DB, or into a file that PLACARD_DB_FILE names\n',
      );
    }
    return option;
  }
  return readSecret('PLACARD_DB');
};

/** The database that a command reads; `missing` is the error without one. */
export const visitedDatabase = (option: string | undefined, missing: string): string => {
  const db = namedDatabase(option);
  if (db === undefined)
    throw new Error(process.env['PLACARD_DB'] === '' ? `${missing}; PLACARD_DB is empty` : missing);
  return db;
};

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
  // Commands that only name a database, or none, need not load the service.
  const { openStore } = await import('../service/index.ts');
  try {
    return await openStore(db);
  } catch (error) {
    throw new Error(`the database ${shownAddress(db)} cannot be used: ${whyNot(db, error)}`, {
      cause: error,
    });
  }
};

/** The workspace of a database that a command line names, else its only one; `undefined` where it holds none. */
export const chosenWorkspace = (known: readonly string[], chosen: string | undefined): string | undefined => {
  if (chosen === undefined && known.length > 1)
    throw new Error(`the database holds several workspaces (${known.join(', ')}); name one with --workspace`);
  if (chosen !== undefined && known.length > 0 && !known.includes(chosen))
    throw new Error(`the database holds nothing of workspace "${chosen}"; it holds ${known.join(', ')}`);
  return chosen ?? known[0];
};
