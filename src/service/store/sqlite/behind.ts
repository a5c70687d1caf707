import type { Entry } from '../entry.ts';

/** Requests that a busy user's row may be behind: it is written once for all that came meanwhile. */
const MAX_REQUESTS_BEHIND = 10_000;
/** Users whose rows may be behind at once. */
const MAX_USERS_BEHIND = 40_000;
/** Rows that one group brings up to date at most, so that no group is a long one. */
const MAX_ROWS = 400;

interface Place {
  entry: Entry;
  /** What the entry's `behindSince` was: where it is another now, its row was written since and this place is void. */
  since: number;
}

/** Which users' rows are behind what is in memory, those first that are so the longest. */
export const createBehind = () => {
  let queue: Place[] = [];
  let head = 0;

  const first = (): Place | undefined => {
    while (head < queue.length) {
      const place = queue[head]!;
      if (place.entry.behindSince === place.since && !place.entry.removed) return place;
      head += 1;
    }
    return undefined;
  };

  const compact = () => {
    if (head < 1_000 || head * 2 < queue.length) return;
    queue = queue.slice(head);
    head = 0;
  };

  return {
    add(entry: Entry, request: number) {
      if (entry.behindSince !== 0) return;
      entry.behindSince = request;
      queue.push({ entry, since: request });
    },

    /** The users whose rows are to be written with a group: the late ones, or as many as fit where `all` is true. */
    due(lastRequest: number, all: boolean): Entry[] {
      const due: Entry[] = [];
      for (let place = first(); place && due.length < MAX_ROWS; place = first()) {
        const isLate =
          place.since <= lastRequest - MAX_REQUESTS_BEHIND || queue.length - head > MAX_USERS_BEHIND;
        if (!all && !isLate) break;
        head += 1;
        place.entry.behindSince = 0;
        due.push(place.entry);
      }
      compact();
      return due;
    },

    /** The last request that every row knows. */
    settledRequest: (lastRequest: number): number => (first()?.since ?? lastRequest + 1) - 1,

    isEmpty: () => first() === undefined,

    clear() {
      queue = [];
      head = 0;
    },
  };
};

export type Behind = ReturnType<typeof createBehind>;
