import type { Notice, Placard } from '../client/index.ts';

const MAX_ENTRIES = 100;

export interface HistoryEntry {
  /** Unix milliseconds. */
  at: number;
  notice: Exclude<Notice, { type: 'changed' }>;
}

/** Records the newest notices, oldest first, including earlier notices that the client kept. */
export const recordHistory = (placard: Placard) => {
  const beganAt = Date.now();
  let entries: HistoryEntry[] = [];
  /** Incremented with each entry, so that views can detect changes. */
  let version = 0;

  const stop = placard.subscribe((notice) => {
    // Skipped, because each change also has a specific notice.
    if (notice.type === 'changed') return;
    entries = [...entries, { at: Date.now(), notice }].slice(-MAX_ENTRIES);
    version += 1;
  });

  return {
    entries: (): readonly HistoryEntry[] => entries,
    version: (): number => version,
    /** Prepends entries from before recording began. */
    addEarlier(earlier: readonly { at: number; notice: Notice }[]): void {
      const recorded = earlier.filter((entry): entry is HistoryEntry => entry.notice.type !== 'changed');
      entries = [...recorded.filter(({ at }) => at < beganAt), ...entries].slice(-MAX_ENTRIES);
      version += 1;
    },
    stop,
  };
};

export type History = ReturnType<typeof recordHistory>;
