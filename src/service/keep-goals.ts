import { setTimeout as wait } from 'node:timers/promises';
import { errorFacts, type Log } from './log.ts';
import type { Store } from './store/store.ts';
import type { Workspace } from './workspace/workspace.ts';

/** Between two looks at whether a campaign has other goals by now. */
const EVERY_MS = 1_000;

interface KeepGoalsOptions {
  store: Pick<Store, 'keepGoals'>;
  /** Another list once something of a workspace has changed. */
  workspaces(): readonly Workspace[];
  log: Log;
  everyMs?: number;
}

/**
 * Has the goals of campaigns counted from the moment at which a campaign has them, so that its results need no counting later.
 * Goals are only ever added: a campaign that is gone may come back, and another replica may have another file. Returns what stops it.
 */
export const startKeepingGoals = (options: KeepGoalsOptions): (() => Promise<void>) => {
  const { store, workspaces, log, everyMs = EVERY_MS } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const keepChanged = async (all: readonly Workspace[]): Promise<void> => {
    for (const { workspaceId, campaigns, holdout } of all) {
      for (const { campaignId, conversions } of [...campaigns, ...(holdout ? [holdout] : [])]) {
        if (signal.aborted) return;
        await store.keepGoals(workspaceId, { campaignId, conversions }, signal);
      }
    }
  };

  const run = async () => {
    let seen: readonly Workspace[] | null = null;
    while (!signal.aborted) {
      const all = workspaces();
      try {
        if (all !== seen) await keepChanged(all);
        seen = all;
      } catch (error) {
        if (signal.aborted) return;
        // Tried again with the next look.
        log.error(errorFacts(error), 'goals not kept');
      }
      await wait(everyMs, undefined, { signal, ref: false });
    }
  };
  const running = run().catch(() => undefined);
  return () => {
    stopping.abort();
    return running;
  };
};
