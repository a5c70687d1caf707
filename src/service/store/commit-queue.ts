import { setImmediate as nextTurn } from 'node:timers/promises';
import type { UserSet } from '../profiles/user-set.ts';
import type { Commit, UserWork } from './store.ts';
import { createWaiting } from './waiting.ts';
import { isRefused, RetryLaterError } from './write-errors.ts';

export type Work = UserWork<unknown>;

/** Works of a group cannot be stored: their `apply` threw, or another transaction keeps their users locked. */
export class WorkError extends Error {
  override name = 'WorkError';
  readonly works: readonly Work[];

  constructor(works: readonly Work[], cause: unknown) {
    super('Works of the group cannot be stored', { cause });
    this.works = works;
  }
}

/** Applies works to users in memory, one after the other, and answers what each returned. */
export const applyWorks = (works: readonly Work[], usersOf: (workspaceId: string) => UserSet): unknown[] =>
  works.map((work) => {
    try {
      return work.apply(usersOf(work.workspaceId));
    } catch (error) {
      // It may have changed users halfway: the group begins anew without it.
      throw new WorkError([work], error);
    }
  });

/** Works that share a commit. */
const MAX_WORKS = 128;

interface Waiting {
  work: Work;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export interface CommitQueueOptions {
  /** Notes that the database holds data of a workspace, once, before its first work is committed. */
  register(workspaceId: string): Promise<unknown>;
  /**
   * Applies the works in one transaction and resolves with what each returned, once that is committed. Throws a
   * `WorkError` where one of them is in the way of the others.
   */
  writeGroup(works: readonly Work[]): Promise<unknown[]>;
  /** How many groups `writeGroup` takes at once. Default 1. */
  groupsAtOnce?: number;
}

/**
 * Group commit: all works that come while a group is being committed make the next. Where two groups go at once that one begins
 * before the first has ended, once half as many works wait: smaller ones would cost more than they gain.
 */
export const createCommitQueue = ({ register, writeGroup, groupsAtOnce = 1 }: CommitQueueOptions) => {
  const waiting = createWaiting<Waiting>({
    refuse: ({ reject }) => reject(new RetryLaterError('Other writes come first')),
  });
  let onCommit: (commit: Commit) => void = () => undefined;
  let isScheduled = false;
  /** Groups that are being committed, and the works of the last one. */
  let groups = 0;
  let lastWorks = 0;
  let underWay = 0;
  let isClosed = false;
  const idle: (() => void)[] = [];

  const store = async (group: readonly Waiting[]): Promise<void> => {
    try {
      const values = await writeGroup(group.map(({ work }) => work));
      for (const [i, { resolve }] of group.entries()) resolve(values[i]);
    } catch (error) {
      if (error instanceof WorkError) {
        const refused = new Set(error.works);
        for (const { work, reject } of group) if (refused.has(work)) reject(error.cause);
        const others = group.filter(({ work }) => !refused.has(work));
        if (others.length > 0) await store(others);
      } else if (group.length > 1 && isRefused(error)) {
        // The database may take the values of a part of the works.
        const half = group.length >> 1;
        await store(group.slice(0, half));
        await store(group.slice(half));
      } else for (const { reject } of group) reject(error);
    }
  };

  const isDue = () =>
    waiting.count() > 0 && (groups === 0 || (groups < groupsAtOnce && waiting.count() >= lastWorks / 2));

  const run = async () => {
    isScheduled = false;
    while (isDue()) {
      const { items, waitedMs } = waiting.take(MAX_WORKS);
      const started = performance.now();
      groups += 1;
      lastWorks = items.length;
      await store(items);
      onCommit({ works: items.length, waitedMs, writingMs: performance.now() - started });
      // Answers leave first, and the requests that came meanwhile join the next group.
      await nextTurn();
      groups -= 1;
    }
  };

  const enqueue = <T>(work: UserWork<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      waiting.add({ work, resolve, reject });
      if (isScheduled || !isDue()) return;
      isScheduled = true;
      // Works that come in the same turn share the commit.
      setImmediate(() => void run());
    });

  return {
    isRefusing: waiting.isRefusing,

    async write<T>(work: UserWork<T>): Promise<T> {
      if (isClosed) throw new Error('The store is closed');
      underWay += 1;
      try {
        await register(work.workspaceId);
        return await enqueue(work);
      } finally {
        underWay -= 1;
        if (underWay === 0) for (const resolve of idle.splice(0)) resolve();
      }
    },

    onCommit(listener: (commit: Commit) => void) {
      onCommit = listener;
    },

    /** Takes no more works; resolves when those under way are committed or have failed. */
    async close(): Promise<void> {
      isClosed = true;
      if (underWay > 0) await new Promise<void>((resolve) => idle.push(resolve));
    },
  };
};

export type CommitQueue = ReturnType<typeof createCommitQueue>;
