import { setTimeout as wait } from 'node:timers/promises';
import { DAY_MS, HOUR_MS } from '../protocol/index.ts';
import { type Log, serializeError } from './log.ts';
import { repeatUntilAborted } from './repeat-until-aborted.ts';
import type { Store } from './store/store.ts';
import type { Workspace } from './workspace/workspace.ts';

/** Interval between runs. */
const EVERY_MS = 6 * HOUR_MS;

export interface RetentionOptions {
  store: Pick<Store, 'prune' | 'expiredStubUsers' | 'write'>;
  workspaces(): readonly Workspace[];
  /** Called after each step with the number of deleted rows. */
  onPruned(workspaceId: string, kind: 'events' | 'banner_events' | 'users', rows: number): void;
  log: Log;
  now(): number;
  everyMs?: number;
}

/** Deletes rows past the retention of their workspace, at startup and every six hours. Returns a function that stops it. */
export const startRetention = (options: RetentionOptions): (() => Promise<void>) => {
  const { store, workspaces, onPruned, log, now, everyMs = EVERY_MS } = options;
  const stopping = new AbortController();
  const { signal } = stopping;

  /** Pauses for as long as the step took, so that retention uses at most half of the writer's time. */
  const pauseAfter = (started: number) =>
    wait(performance.now() - started, undefined, { signal, ref: false });

  const prune = async ({ workspaceId, retention }: Workspace) => {
    const getCutoffMs = (days: number | null) => (days === null ? null : now() - days * DAY_MS);
    const cutoffs = {
      events: getCutoffMs(retention.events),
      bannerEvents: getCutoffMs(retention.bannerEvents),
    };
    if (cutoffs.events === null && cutoffs.bannerEvents === null) return;
    for (let hasMore = true; hasMore; ) {
      const started = performance.now();
      const pruned = await store.prune(workspaceId, cutoffs);
      const { events, bannerEvents } = pruned;
      if (events > 0) onPruned(workspaceId, 'events', events);
      if (bannerEvents > 0) onPruned(workspaceId, 'banner_events', bannerEvents);
      hasMore = pruned.hasMore;
      await pauseAfter(started);
    }
    if (cutoffs.bannerEvents !== null) await expire(workspaceId, cutoffs.bannerEvents);
  };

  /** Deletes users who had only banner events, once the banner events are deleted. */
  const expire = async (workspaceId: string, beforeMs: number) => {
    for (;;) {
      const started = performance.now();
      const stale = await store.expiredStubUsers(workspaceId, beforeMs);
      if (stale.length === 0) return;
      await store.write({
        workspaceId,
        lookups: stale.map((value) => ({ by: 'external_id', value })),
        nowMs: now(),
        // Keeps users who have a new event.
        apply(users) {
          for (const externalId of stale) users.expire(externalId, beforeMs);
        },
      });
      onPruned(workspaceId, 'users', stale.length);
      await pauseAfter(started);
    }
  };

  const run = async () => {
    for (const workspace of workspaces()) {
      if (signal.aborted) return;
      await prune(workspace).catch((error: unknown) => {
        if (signal.aborted) return;
        // The next run deletes the rest.
        log.error({ workspace: workspace.workspaceId, ...serializeError(error) }, 'retention not applied');
      });
    }
  };
  const onError = (error: unknown) => log.error(serializeError(error), 'retention not applied');
  const running = repeatUntilAborted(run, { everyMs, signal, onError });
  return () => {
    stopping.abort();
    return running;
  };
};
