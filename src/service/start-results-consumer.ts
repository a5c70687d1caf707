import { setTimeout as wait } from 'node:timers/promises';
import { type Log, serializeError } from './log.ts';
import { repeatUntilAborted } from './repeat-until-aborted.ts';
import type { Store } from './store/store.ts';
import type { Workspace } from './workspace/workspace.ts';

/** Interval between checks for changed goals and new events. */
const EVERY_MS = 5_000;

interface ResultsConsumerOptions {
  store: Pick<Store, 'addGoals' | 'catchUpResults'>;
  /** Returns a new list after a workspace has changed. */
  workspaces(): readonly Workspace[];
  log: Log;
  everyMs?: number;
}

/**
 * Keeps campaign results up to date in the background, and registers goals as soon as a workspace has them. Goals are never
 * removed, because a campaign may return, and another replica may have another file. Returns a function that stops it.
 */
export const startResultsConsumer = (options: ResultsConsumerOptions): (() => Promise<void>) => {
  const { store, workspaces, log, everyMs = EVERY_MS } = options;
  const stopping = new AbortController();
  const { signal } = stopping;

  const addGoals = async (all: readonly Workspace[]): Promise<void> => {
    for (const { workspaceId, campaigns, holdout, studio } of all) {
      for (const { campaignId, goals } of [...campaigns, ...(holdout ? [holdout] : [])]) {
        if (signal.aborted) return;
        await store.addGoals(workspaceId, { campaignId, goals, timeZone: studio.timeZone });
      }
    }
  };

  const catchUp = async (): Promise<void> => {
    for (let isCaughtUp = false; !isCaughtUp && !signal.aborted; ) {
      const started = performance.now();
      ({ isCaughtUp } = await store.catchUpResults());
      // Waits as long as each step took, so that a backlog leaves half of the writer's time to other writes.
      if (!isCaughtUp) await wait(performance.now() - started, undefined, { signal, ref: false });
    }
  };

  let added: readonly Workspace[] | null = null;
  const run = async () => {
    const all = workspaces();
    if (all !== added) await addGoals(all);
    added = all;
    await catchUp();
  };
  const onError = (error: unknown) => log.error(serializeError(error), 'results not updated');
  const running = repeatUntilAborted(run, { everyMs, signal, onError });
  return () => {
    stopping.abort();
    return running;
  };
};
