import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { threadUrl } from './writer.ts';

/**
 * Checkpoints the log on a thread of its own, because a checkpoint copies up to 64 MiB and syncs the file, for which writes would
 * wait. The thread starts with the first checkpoint.
 */
export const createCheckpoints = (file: string) => {
  let thread: Worker | null = null;
  return {
    /** Copies the pages of the log to the file, except those that other connections still read or write. */
    async checkpoint(): Promise<void> {
      thread ??= new Worker(threadUrl('checkpoint'), { workerData: file });
      thread.postMessage('checkpoint');
      try {
        await once(thread, 'message');
      } catch (error) {
        thread = null;
        throw error;
      }
    },
    async close(): Promise<void> {
      if (thread === null) return;
      thread.postMessage('close');
      await once(thread, 'exit');
    },
  };
};
