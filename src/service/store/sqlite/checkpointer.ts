import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { createLogRoom } from './log-room.ts';

/** At most this often: what is written often moves once. */
const EVERY_MS = 1_000;
/** Where the other thread falls behind, the writer waits for the log to be moved at this many pages: 256 MiB. */
export const MAX_LOG_PAGES = 65_536;
/** At most this often the volume is asked for its room: the log grows by a megabyte or so meanwhile. */
const ASK_MS = 20;

export interface WrittenFile {
  file: string;
  /** Open for writing as long as any connection is: closing it would take away the locks of all of them. */
  fileDescriptor: number;
}

const here = import.meta.url;
const threadFile = here.endsWith('.ts') ? './checkpoint-thread.ts' : './sqlite-checkpoint.js';

/**
 * Keeps the write-ahead log short from a thread of its own. A writer that moves a full log itself lets everybody wait
 * a tenth of a second. A log starts anew only where all of it is moved, so the writer moves the last few pages.
 */
export const createCheckpointer = (
  database: DatabaseSync,
  workerData: WrittenFile,
  { everyMs = EVERY_MS, keepRoom = createLogRoom(database, workerData.file) } = {},
) => {
  database.exec(`PRAGMA wal_autocheckpoint = ${MAX_LOG_PAGES}`);
  const finish = database.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  const thread = new Worker(new URL(threadFile, here), { workerData });
  let isMoving = false;
  let isDead = false;
  let lastMs = performance.now();
  let askedMs = 0;

  const rest = () => {
    isMoving = false;
    lastMs = performance.now();
  };
  thread.on('message', (problem: string | null) => {
    try {
      if (problem === null) finish.get();
    } catch {
      // The log holds what could not be moved and grows; the next round tries again, and a disk that fails for good
      // fails the commits, which are told.
    }
    rest();
  });
  // Without it the writer does it at MAX_LOG_PAGES.
  thread.on('error', () => {
    isDead = true;
  });

  return {
    /** To be told after every commit, one that failed too. */
    committed() {
      if (isMoving) return;
      const nowMs = performance.now();
      if (nowMs - askedMs >= ASK_MS) {
        askedMs = nowMs;
        if (keepRoom()) return rest();
      }
      if (isDead || nowMs - lastMs < everyMs) return;
      isMoving = true;
      thread.postMessage('checkpoint');
    },
    async close(): Promise<void> {
      if (isDead) return;
      const exited = new Promise((resolve) => thread.once('exit', resolve));
      thread.postMessage('close');
      await exited;
    },
  };
};
