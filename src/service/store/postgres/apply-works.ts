import { unlink } from '../entry.ts';
import type { UserWork } from '../store.ts';
import { createWorkingSet } from '../working-set.ts';
import type { After, Known } from './profile-cache.ts';
import { createUserRows, type UserRows } from './user-rows.ts';

/** Thrown to roll back and start again without a work that failed. */
export const RESTART = new Error('A work of the batch failed');

/** Works of one batch, and what became of them. */
export interface Batch {
  works: UserWork<unknown>[];
  /** Works that threw: they are left out. */
  failed: Map<UserWork<unknown>, unknown>;
  /** What the others returned. */
  values: Map<UserWork<unknown>, unknown>;
}

/** What is to be stored, and what will be known then. */
export interface Applied {
  rows: UserRows;
  after: After[];
}

/** Applies the works to those found, one after the other. */
export const createApply =
  (options: { newId(nowMs: number): string; pointSlot: string }) =>
  ({ works, failed, values }: Batch, found: Map<string, Known>, isChecking: boolean): Applied => {
    const set = createWorkingSet({ newId: options.newId });
    for (const { workspaceId, profile } of found.values()) set.bring(workspaceId, profile);
    const sum = createUserRows(found, options.pointSlot);
    for (const work of works) {
      if (failed.has(work)) continue;
      try {
        values.set(work, work.apply(set.users(work.workspaceId)));
      } catch (error) {
        failed.set(work, error);
        throw RESTART;
      }
      sum.add(work.workspaceId, set.take());
    }
    const result = sum.finish(isChecking);
    for (const { known } of result.after) unlink(known.profile);
    return result;
  };
