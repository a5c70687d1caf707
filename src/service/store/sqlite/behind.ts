import type { Entry } from '../entry.ts';

/** Requests that a busy user's row may be behind: it is written once for all that came meanwhile. */
const MAX_REQUESTS_BEHIND = 10_000;
/** Users whose rows may be behind at once, and the characters of what they wait to bring: all of it stays in memory. */
const MAX_USERS_BEHIND = 40_000;
const MAX_CHARACTERS_BEHIND = 32 * 1024 * 1024;

interface Place {
  entry: Entry;
  /** What the entry's `behindSince` was: where it is another now, its row was written since and this place is void. */
  since: number;
  characters: number;
}

/** Which users' rows are behind what is in memory, those first that are so the longest. */
export const createBehind = () => {
  let queue: Place[] = [];
  let head = 0;
  let characters = 0;

  const leave = (place: Place) => {
    head += 1;
    characters -= place.characters;
  };

  const first = (): Place | undefined => {
    while (head < queue.length) {
      const place = queue[head]!;
      if (place.entry.behindSince === place.since && !place.entry.removed) return place;
      leave(place);
    }
    return undefined;
  };

  const isTooMuch = () => characters > MAX_CHARACTERS_BEHIND;

  const compact = () => {
    if (head < 1_000 || head * 2 < queue.length) return;
    queue = queue.slice(head);
    head = 0;
  };

  return {
    /** `weight`: about how many characters the row will have of what the request has changed. */
    add(entry: Entry, request: number, weight: number) {
      if (entry.behindSince !== 0) return;
      entry.behindSince = request;
      queue.push({ entry, since: request, characters: weight });
      characters += weight;
    },

    /** The next user whose row is to be written: one that is late, or any where `all` is true. */
    take(lastRequest: number, all: boolean): Entry | undefined {
      const place = first();
      if (!place) return undefined;
      const isLate =
        place.since <= lastRequest - MAX_REQUESTS_BEHIND ||
        queue.length - head > MAX_USERS_BEHIND ||
        isTooMuch();
      if (!all && !isLate) return undefined;
      leave(place);
      compact();
      place.entry.behindSince = 0;
      return place.entry;
    },

    /** True while more waits in memory than should. */
    isTooMuch,

    /** The last request that every row knows. */
    settledRequest: (lastRequest: number): number => (first()?.since ?? lastRequest + 1) - 1,

    isEmpty: () => first() === undefined,

    clear() {
      queue = [];
      head = 0;
      characters = 0;
    },
  };
};

export type Behind = ReturnType<typeof createBehind>;
