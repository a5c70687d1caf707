import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { getErrorCode } from '../../log.ts';
import { performOnThread } from './jobs.ts';

const removeHalves = (part: string): void => {
  for (const half of [part, `${part}-journal`]) rmSync(half, { force: true });
};

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return getErrorCode(error) === 'EPERM';
  }
};

const listNames = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch (error) {
    // A backup folder may lack read permission.
    if (getErrorCode(error) === 'EACCES') return [];
    throw error;
  }
};

/** Removes partial copies that killed backups to the same file left. A partial copy may be as large as the database. */
const removeLeftovers = (destination: string): void => {
  const prefix = `${basename(destination)}.`;
  for (const name of listNames(dirname(destination))) {
    const [, pid] = (name.startsWith(prefix) && /^(\d+)\.part$/.exec(name.slice(prefix.length))) || [];
    if (pid === undefined) continue;
    // The first process of a container always has the same ID, so a partial copy with our own ID is from a killed process.
    const isLeft = Number(pid) === process.pid || !isRunning(Number(pid));
    if (isLeft) removeHalves(join(dirname(destination), name));
  }
};

/**
 * Resolves when the copy is synced to disk. Rejects immediately if aborted, although the thread ends only after its current call.
 */
const copy = (file: string, part: string, signal: AbortSignal): Promise<unknown> => {
  const copying = performOnThread({ file, name: 'copy', values: [part] }, signal);
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason);
      // Until the copy settles, the thread may create another file.
      const remove = () => removeHalves(part);
      copying.then(remove, remove);
    });
  });
  return Promise.race([copying, aborted]);
};

const refuse = (destination: string): never => {
  throw new Error(`${destination} already exists; a backup never overwrites`);
};

/** Gives the copy its name. Uses a hard link, which fails if the name exists, even if another process has just created it. */
const rename = (part: string, destination: string): void => {
  try {
    linkSync(part, destination);
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') refuse(destination);
    // Not every file system supports hard links.
    renameSync(part, destination);
  }
  rmSync(part, { force: true });
};

/** Syncs the directory entry. */
const syncName = (destination: string): void => {
  try {
    const folder = openSync(dirname(destination), 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch {
    // Windows cannot open a folder, a folder without read permission cannot be opened, and some network file systems cannot sync
    // a folder. The copy is complete and has its name. Only its directory entry is synced later.
  }
};

/**
 * Copies a snapshot of a SQLite file while the service writes it. The copy is in rollback-journal mode, without a log, and is synced to disk
 * when this resolves. Never overwrites an existing file. Gives the copy its name once it is complete, because a partial copy
 * could be mistaken for a backup and would open as an empty database. Leaves no partial file after an error or abort.
 */
export const backupSqlite = async (file: string, destination: string, signal: AbortSignal): Promise<void> => {
  if (existsSync(destination)) refuse(destination);
  // SQLite would not report why it cannot open the partial file.
  accessSync(dirname(destination), constants.W_OK);
  removeLeftovers(destination);
  const part = `${destination}.${process.pid}.part`;
  try {
    // Creates a file that only its owner can read. SQLite accepts an empty file as a destination.
    closeSync(openSync(part, 'wx', 0o600));
    await copy(file, part, signal);
    rename(part, destination);
  } catch (error) {
    // If the disk is full, the service needs the space.
    removeHalves(part);
    throw error;
  }
  syncName(destination);
};
