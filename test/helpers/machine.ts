import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

declare module 'vitest' {
  interface TaskMeta {
    /** Requirement that the machine may lack, and its install command. */
    needs?: string;
  }
}

/** Returns the path of a program, or `undefined` if it is not installed. */
export const inPath = (name: string): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));

/** Returns test options that skip the test if the machine lacks `what`. The summary of the run lists skipped tests. */
export const needs = (what: string, isThere: boolean) => ({ skip: !isThere, meta: { needs: what } });
