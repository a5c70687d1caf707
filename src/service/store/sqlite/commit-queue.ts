import type { Commit } from '../store.ts';
import type { Committer } from './commit.ts';
import { createGroup, type Group } from './group.ts';

interface Waiter {
  resolve(): void;
  reject(error: unknown): void;
}

export interface CommitQueueOptions {
  committer: Committer;
  /** The last that may be added to a group before it is written. */
  seal(group: Group): void;
  /** A group was not stored; those who waited for it, and for what came after, have yet to hear of it. */
  onFailure(): void;
}

/** Group commit: one group is written at a time, and all that comes meanwhile makes the next. */
export const createCommitQueue = ({ committer, seal, onFailure }: CommitQueueOptions) => {
  let openNumber = 1;
  let durableNumber = 0;
  let group = createGroup();
  let waiters: Waiter[] = [];
  const askers: Waiter[] = [];
  let waitingSince = 0;
  let tell: (commit: Commit) => void = () => undefined;
  let isWriting = false;
  let isScheduled = false;
  let isClosed = false;
  const idle: (() => void)[] = [];

  const isBusy = () => isWriting || waiters.length > 0 || askers.length > 0;

  const next = () => {
    const taken = { group, waiters, number: openNumber };
    group = createGroup();
    waiters = [];
    return taken;
  };

  const writeGroup = async () => {
    const written = waiters;
    const started = performance.now();
    const waitedMs = started - waitingSince;
    try {
      // Sealing reads the file, which may fail as well.
      seal(group);
      const writing = next();
      openNumber += 1;
      await committer.commit(writing.group);
      durableNumber = writing.number;
      for (const { resolve } of written) resolve();
    } catch (error) {
      // Whatever was done since stands on what was not stored: it fails with it.
      const failed = new Set([...written, ...next().waiters]);
      onFailure();
      for (const { reject } of failed) reject(error);
    }
    tell({ works: written.length, waitedMs, writingMs: performance.now() - started });
  };

  const askDatabase = async () => {
    const asked = askers.splice(0);
    try {
      await committer.commit(createGroup());
      for (const { resolve } of asked) resolve();
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  };

  const flush = async () => {
    isScheduled = false;
    if (isWriting || !isBusy()) return;
    isWriting = true;
    if (waiters.length > 0) await writeGroup();
    if (askers.length > 0) await askDatabase();
    isWriting = false;
    if (isBusy()) void flush();
    else for (const resolve of idle.splice(0)) resolve();
  };

  const join = (those: Waiter[]): Promise<void> => {
    if (isClosed) return Promise.reject(new Error('The store is closed'));
    const promise = new Promise<void>((resolve, reject) => those.push({ resolve, reject }));
    if (!isWriting && !isScheduled) {
      isScheduled = true;
      // Requests that arrived in the same turn join the group.
      setImmediate(() => void flush());
    }
    return promise;
  };

  /** Resolves when nothing is being written or waits to be. */
  const quiet = async (): Promise<void> => {
    while (isBusy()) await new Promise<void>((resolve) => idle.push(resolve));
  };

  return {
    /** The group that is open, and its number. */
    group: () => group,
    number: () => openNumber,
    isDurable: (number: number) => number <= durableNumber,
    isBusy,

    /** Resolves once the group that is open now is stored. */
    durable(): Promise<void> {
      if (waiters.length === 0) waitingSince = performance.now();
      return join(waiters);
    },

    /** Resolves once the database has answered: to a transaction of nothing, whatever becomes of the groups. */
    answered: (): Promise<void> => join(askers),

    onCommit(listener: (commit: Commit) => void) {
      tell = listener;
    },

    async close(): Promise<void> {
      isClosed = true;
      await quiet();
      await committer.close();
    },
  };
};

export type CommitQueue = ReturnType<typeof createCommitQueue>;
