import { InDoubtError, RetryLaterError, verdictOf } from '../write-errors.ts';

/** The file of a thread. Run from source this file sits beside the thread's; built, both are files of `dist/`. */
export const threadUrl = (name: 'job' | 'writer'): URL => {
  const here = import.meta.url;
  return new URL(here.endsWith('.ts') ? `./${name}-thread.ts` : `./sqlite-${name}.js`, here);
};

/**
 * Why a group was not stored, as it crosses from the writer's thread. A cloned error keeps
 * nothing but its message, and the log would not know a full disk from a broken one.
 */
export interface WriteProblem {
  message: string;
  code?: string;
  errcode?: number;
  errstr?: string;
}

export const writeProblemOf = (error: unknown): WriteProblem => {
  if (!(error instanceof Error)) return { message: String(error) };
  const { message, code, errcode, errstr } = error as Error & WriteProblem;
  return { message, ...(code !== undefined && { code, errcode, errstr }) } as WriteProblem;
};

export const writeErrorOf = ({ message, ...facts }: WriteProblem): Error => {
  const error = Object.assign(new Error(`The database refused a write: ${message}`), facts);
  const verdict = verdictOf(error);
  if (verdict === 'in doubt')
    return new InDoubtError('The disk did not say what it stored', { cause: error });
  return verdict === 'later' ? new RetryLaterError(error.message, { cause: error }) : error;
};
