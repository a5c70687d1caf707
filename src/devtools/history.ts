import type { Notice, Placard } from '../client/index.ts';

const MAX_ENTRIES = 100;

export interface HistoryEntry {
  /** Unix milliseconds. */
  at: number;
  notice: Exclude<Notice, { type: 'changed' }>;
}

/** The newest notices, oldest first, from now on and with those that the client remembers of before. */
export const recordHistory = (placard: Placard) => {
  const beganAt = Date.now();
  let entries: HistoryEntry[] = [];
  /** Counts up with each entry, so that a view knows whether it is up to date. */
  let version = 0;

  const stop = placard.subscribe((notice) => {
    // What has changed says so by a notice of its own.
    if (notice.type === 'changed') return;
    entries = [...entries, { at: Date.now(), notice }].slice(-MAX_ENTRIES);
    version += 1;
  });

  return {
    entries: (): readonly HistoryEntry[] => entries,
    version: (): number => version,
    /** Puts in front what happened before the record began. */
    addEarlier(earlier: readonly { at: number; notice: Notice }[]): void {
      const known = earlier.filter((entry): entry is HistoryEntry => entry.notice.type !== 'changed');
      entries = [...known.filter(({ at }) => at < beganAt), ...entries].slice(-MAX_ENTRIES);
      version += 1;
    },
    stop,
  };
};

export type History = ReturnType<typeof recordHistory>;
