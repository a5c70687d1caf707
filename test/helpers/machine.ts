import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

declare module 'vitest' {
  interface TaskMeta {
    /** What a test needs that the machine may lack, and the command that brings it. */
    needs?: string;
  }
}

/** Where a program is, or `undefined` where the machine does not have it. */
export const inPath = (name: string): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));

/** Options of a test that is skipped where the machine lacks something. The end of the run names it, and `what` it needs. */
export const needs = (what: string, isThere: boolean) => ({ skip: !isThere, meta: { needs: what } });
