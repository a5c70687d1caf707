import { setTimeout as wait } from 'node:timers/promises';

interface RepeatOptions {
  /** Pause between runs, in milliseconds. */
  everyMs: number;
  signal: AbortSignal;
  /** Called with the error of a run, except after the abort. */
  onError: (error: unknown) => void;
}

/** Runs `work` at once and again after each pause. Resolves when the signal is aborted and the last run has ended. */
export const repeatUntilAborted = async (
  work: () => unknown,
  { everyMs, signal, onError }: RepeatOptions,
): Promise<void> => {
  while (!signal.aborted) {
    try {
      await work();
    } catch (error) {
      if (!signal.aborted) onError(error);
    }
    await wait(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
};
