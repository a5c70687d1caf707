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

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch (error) {
    // A folder for backups may grant no right to read.
    if (getErrorCode(error) === 'EACCES') return [];
    throw error;
  }
};

/** Removes the partial copies of killed backups to the same file: each may be as large as the database. */
const removeLeftovers = (destination: string): void => {
  const prefix = `${basename(destination)}.`;
  for (const name of namesIn(dirname(destination))) {
    const [, pid] = (name.startsWith(prefix) && /^(\d+)\.part$/.exec(name.slice(prefix.length))) || [];
    if (pid === undefined) continue;
    // A container's first process always has the same ID: a part with the own ID is from a killed one.
    const isLeft = Number(pid) === process.pid || !isRunning(Number(pid));
    if (isLeft) removeHalves(join(dirname(destination), name));
  }
};

/** Resolves when the copy is on the disk. An abort rejects at once, though the thread ends when its call does. */
const copy = (file: string, part: string, signal: AbortSignal): Promise<unknown> => {
  const copying = performOnThread({ file, name: 'copy', values: [part] }, signal);
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason);
      // It may begin another file until then.
      const remove = () => removeHalves(part);
      copying.then(remove, remove);
    });
  });
  return Promise.race([copying, aborted]);
};

const refuse = (destination: string): never => {
  throw new Error(`${destination} exists already; a backup writes over nothing`);
};

/** Gives the copy its name. A link is refused where the name is taken, even if that was just now. */
const rename = (part: string, destination: string): void => {
  try {
    linkSync(part, destination);
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') refuse(destination);
    // Not every file system has links.
    renameSync(part, destination);
  }
  rmSync(part, { force: true });
};

/** The name as well must be on the disk. */
const syncName = (destination: string): void => {
  try {
    const folder = openSync(dirname(destination), 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch {
    // Windows cannot open a folder, a folder without the right to read cannot be opened, and some network file systems cannot sync
    // one. The copy is whole and has its name, which the system writes to the disk by itself, only later.
  }
};

/**
 * Copies a SQLite file as it is at one moment, while the service goes on writing it. The copy is a plain file without
 * a log beside it; it is on the disk when this resolves. An existing file is never written over. The copy gets its name
 * once it is whole: half of one could be taken for it, and would open as an empty database. Where it fails, or the signal
 * ends it, nothing of it stays.
 */
export const backupSqlite = async (file: string, destination: string, signal: AbortSignal): Promise<void> => {
  if (existsSync(destination)) refuse(destination);
  // SQLite would say that it cannot open the half, and not why.
  accessSync(dirname(destination), constants.W_OK);
  removeLeftovers(destination);
  const part = `${destination}.${process.pid}.part`;
  try {
    // Its owner alone reads it. SQLite copies into an empty file as it does into a new one.
    closeSync(openSync(part, 'wx', 0o600));
    await copy(file, part, signal);
    rename(part, destination);
  } catch (error) {
    // On a disk that is full the service needs the room.
    removeHalves(part);
    throw error;
  }
  syncName(destination);
};
