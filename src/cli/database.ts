import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { readSecret } from '../secrets/index.ts';
import type { Store } from '../service/index.ts';
import { formatError } from './sentence.ts';

/** `--db` option of commands that read a database. */
export const dbOption = {
  type: 'string',
  description: 'SQLite file or PostgreSQL URL (PLACARD_DB)',
  valueHint: 'FILE|postgres://…',
} as const;

/** URL with a password in the authority or in the query, because PostgreSQL accepts either. */
const PASSWORD = /^postgres(?:ql)?:\/\/(?:[^@:]*:[^@]+@|.*[?&]password=)/;

/** Warns if the URL of an option contains a password. `alternative`: safe place for the password. */
export const warnOfPassword = (option: string, url: string, alternative: string): void => {
  if (PASSWORD.test(url))
    process.stderr.write(
      `placard: warning: ${option} exposes the password in the process list; use ${alternative}\n`,
    );
};

/**
 * Returns the file or URL from `--db`, otherwise `PLACARD_DB`, otherwise the contents of `PLACARD_DB_FILE`; `undefined` if none is
 * set. Empty variables count as unset.
 */
export const getDatabaseAddress = (option: string | undefined): string | undefined => {
  if (option === '') throw new Error('--db needs a value');
  if (option !== undefined) {
    warnOfPassword('--db', option, 'PLACARD_DB or PLACARD_DB_FILE');
    return option;
  }
  return readSecret('PLACARD_DB');
};

/** Returns the database of a command. Throws an error with the message `missing` if none is set. */
export const requireDatabase = (option: string | undefined, missing: string): string => {
  const db = getDatabaseAddress(option);
  if (db === undefined)
    throw new Error(process.env['PLACARD_DB'] === '' ? `${missing}; PLACARD_DB is empty` : missing);
  return db;
};

/** Redacts credentials for error messages. Returns the host and path of a URL; other text is unchanged. */
const shownAddress = (db: string): string => {
  if (!db.includes('://')) return db;
  // Redacts everything after the scheme, because a password with a slash makes the URL unparsable.
  if (!URL.canParse(db)) return db.replace(/:\/\/.*/s, '://…');
  const { protocol, host, pathname } = new URL(db);
  return `${protocol}//${host}${pathname}`;
};

/** SQLite error code of a file that cannot be opened. SQLite does not report the reason. */
const SQLITE_CANTOPEN = 14;

const describeOpenError = (db: string, error: unknown): string => {
  if (!(error instanceof Error && 'errcode' in error && error.errcode === SQLITE_CANTOPEN))
    return formatError(error);
  if (db.includes('://')) return 'expected a file, :memory: or a postgres:// URL';
  try {
    accessSync(dirname(db), constants.W_OK);
    if (statSync(db, { throwIfNoEntry: false })?.isDirectory()) return 'it is a folder';
    accessSync(db, constants.R_OK | constants.W_OK);
  } catch (problem) {
    return formatError(problem);
  }
  return formatError(error);
};

/** Opens the store of a service. Throws an error with a one-sentence message if the store is unavailable. */
export const openDatabase = async (db: string): Promise<Store> => {
  // Loads the service lazily, because commands without a database do not need it.
  const { openStore } = await import('../service/index.ts');
  try {
    return await openStore(db);
  } catch (error) {
    throw new Error(`cannot open database ${shownAddress(db)}: ${describeOpenError(db, error)}`, {
      cause: error,
    });
  }
};

/** Returns the workspace of the command line, or the only one in the database; `undefined` if the database has none. */
export const chosenWorkspace = (
  workspaceIds: readonly string[],
  chosen: string | undefined,
): string | undefined => {
  if (chosen === undefined && workspaceIds.length > 1)
    throw new Error(
      `the database holds several workspaces (${workspaceIds.join(', ')}); name one with --workspace`,
    );
  if (chosen !== undefined && workspaceIds.length > 0 && !workspaceIds.includes(chosen))
    throw new Error(
      `the database holds nothing of workspace "${chosen}"; it holds ${workspaceIds.join(', ')}`,
    );
  return chosen ?? workspaceIds[0];
};
