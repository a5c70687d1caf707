import { setImmediate as nextTick } from 'node:timers/promises';
import type { UserRepository } from '../profiles/user-repository.ts';
import type { Commit, UserMutation } from './store.ts';
import { createTimeoutQueue } from './timeout-queue.ts';
import { isRejected, TransientError } from './write-errors.ts';

export type Mutation = UserMutation<unknown>;

/** Thrown if mutations of a group cannot be stored, because their `apply` threw or another transaction has locked their users. */
export class MutationError extends Error {
  override name = 'MutationError';
  readonly mutations: readonly Mutation[];

  constructor(mutations: readonly Mutation[], cause: unknown) {
    super('Mutations of the group cannot be stored', { cause });
    this.mutations = mutations;
  }
}

/** Applies mutations in order to users in memory. Returns their return values. */
export const applyMutations = (
  mutations: readonly Mutation[],
  getUsers: (workspaceId: string) => UserRepository,
): unknown[] =>
  mutations.map((mutation) => {
    try {
      return mutation.apply(getUsers(mutation.workspaceId));
    } catch (error) {
      // The mutation may have changed users before it threw, so the group restarts without the mutation.
      throw new MutationError([mutation], error);
    }
  });

const MAX_MUTATIONS_PER_COMMIT = 128;

interface QueuedMutation {
  mutation: Mutation;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export interface CommitQueueOptions {
  /** Adds the workspace to the table. The queue calls it before each write. */
  ensureWorkspace(workspaceId: string): Promise<unknown>;
  /**
   * Applies mutations in one transaction and resolves with their return values after the commit. Throws `MutationError` if only
   * some mutations can be stored.
   */
  writeGroup(mutations: readonly Mutation[]): Promise<unknown[]>;
  /** Returns the maximum number of groups in flight. Default: 2. */
  maxConcurrentGroups?(): number;
}

/**
 * Creates a queue with group commit. Mutations that arrive during a commit share the next commit. With two concurrent groups, the
 * second group starts once it is as large as the first. If a smaller one could start, each group would be smaller than the
 * previous one, and most of the CPU of small groups is the sync of their commit.
 */
export const createCommitQueue = ({
  ensureWorkspace,
  writeGroup,
  maxConcurrentGroups = () => 2,
}: CommitQueueOptions) => {
  const queue = createTimeoutQueue<QueuedMutation>({
    expire: ({ reject }) => reject(new TransientError('The write timed out in the queue')),
  });
  let onCommit: (commit: Commit) => void = () => undefined;
  let isScheduled = false;
  let groups = 0;
  let lastSize = 0;
  let inFlight = 0;
  let isClosed = false;
  const idleListeners: (() => void)[] = [];

  const commitGroup = async (group: readonly QueuedMutation[]): Promise<void> => {
    try {
      const values = await writeGroup(group.map(({ mutation }) => mutation));
      for (const [i, { resolve }] of group.entries()) resolve(values[i]);
    } catch (error) {
      if (error instanceof MutationError) {
        const rejected = new Set(error.mutations);
        for (const { mutation, reject } of group) if (rejected.has(mutation)) reject(error.cause);
        const others = group.filter(({ mutation }) => !rejected.has(mutation));
        if (others.length > 0) await commitGroup(others);
      } else if (group.length > 1 && isRejected(error)) {
        // Some of the mutations may be valid.
        const half = group.length >> 1;
        await commitGroup(group.slice(0, half));
        await commitGroup(group.slice(half));
      } else for (const { reject } of group) reject(error);
    }
  };

  const isDue = () =>
    queue.count() > 0 && (groups === 0 || (groups < maxConcurrentGroups() && queue.count() >= lastSize));

  const run = async () => {
    isScheduled = false;
    while (isDue()) {
      const { items, waitedMs } = queue.take(MAX_MUTATIONS_PER_COMMIT);
      const started = performance.now();
      groups += 1;
      lastSize = items.length;
      await commitGroup(items);
      onCommit({ mutations: items.length, waitedMs, writingMs: performance.now() - started });
      // Sends responses first, so that requests that arrived in the meantime join the next group.
      await nextTick();
      groups -= 1;
    }
  };

  const enqueue = <T>(mutation: UserMutation<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      queue.add({ mutation, resolve, reject });
      if (isScheduled || !isDue()) return;
      isScheduled = true;
      // Mutations of the same tick share the commit.
      setImmediate(() => void run());
    });

  return {
    isShedding: queue.isShedding,

    async write<T>(mutation: UserMutation<T>): Promise<T> {
      if (isClosed) throw new Error('The store is closed');
      inFlight += 1;
      try {
        await ensureWorkspace(mutation.workspaceId);
        return await enqueue(mutation);
      } finally {
        inFlight -= 1;
        if (inFlight === 0) for (const resolve of idleListeners.splice(0)) resolve();
      }
    },

    onCommit(listener: (commit: Commit) => void) {
      onCommit = listener;
    },

    /** Rejects new mutations, and resolves when mutations in flight have settled. */
    async close(): Promise<void> {
      isClosed = true;
      if (inFlight > 0) await new Promise<void>((resolve) => idleListeners.push(resolve));
    },
  };
};

export type CommitQueue = ReturnType<typeof createCommitQueue>;
