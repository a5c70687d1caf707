import type { Entry } from '../entry.ts';

export interface BehindBounds {
  /** Requests that a busy user's row may be behind: it is written once for all that came meanwhile. */
  requests: number;
  /** Users whose rows may be behind at once, and the characters of what they wait to bring: all of it stays in memory. */
  users: number;
  characters: number;
  /** Characters of journal and events that whoever starts from the file has to read: about a second's work. */
  unsettled: number;
}

const BOUNDS: BehindBounds = {
  requests: 10_000,
  users: 40_000,
  characters: 32 * 1024 * 1024,
  unsettled: 128 * 1024 * 1024,
};

interface Place {
  entry: Entry;
  /** What the entry's `behindSince` was: where it is another now, its row was written since and this place is void. */
  since: number;
  characters: number;
  /** What had been stored of journal and events before it, in characters. */
  storedBefore: number;
}

/** Which users' rows are behind what is in memory, those first that are so the longest. */
export const createBehind = (bounds: Partial<BehindBounds> = {}) => {
  const most = { ...BOUNDS, ...bounds };
  let queue: Place[] = [];
  let head = 0;
  let characters = 0;
  let stored = 0;
  /** Where those who were taken had stood. */
  const left = new WeakMap<Entry, Place>();

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

  /** How much of the fullest bound is taken: above 1 the first row is late. */
  const fullness = (lastRequest: number): number => {
    const place = first();
    if (!place) return 0;
    return Math.max(
      (lastRequest - place.since + 1) / most.requests,
      (queue.length - head) / most.users,
      characters / most.characters,
      (stored - place.storedBefore) / most.unsettled,
    );
  };

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
      queue.push({ entry, since: request, characters: weight, storedBefore: stored });
      characters += weight;
    },

    /** Once the users of a request are added: what the journal and the events have got by it, in characters. */
    stored(weight: number) {
      stored += weight;
    },

    /** The next user whose row is to be written: one that is late, or any where `all` is true. */
    take(lastRequest: number, all: boolean): Entry | undefined {
      const place = first();
      if (!place || (!all && fullness(lastRequest) <= 1)) return undefined;
      leave(place);
      compact();
      left.set(place.entry, place);
      place.entry.behindSince = 0;
      return place.entry;
    },

    /** Of users who were taken, in their order, the rows could not be written: they stand where they stood. */
    putBack(entries: Entry[]) {
      const places = entries.map((entry) => left.get(entry)!);
      for (const place of places) {
        place.entry.behindSince = place.since;
        characters += place.characters;
      }
      queue = [...places, ...queue.slice(head)];
      head = 0;
    },

    /**
     * How many ordinary shares of rows a group brings up to date: one while the bounds hold, and the more the nearer
     * it comes to twice a bound, which no load passes so.
     */
    shares: (lastRequest: number): number => 1 / Math.max(0, Math.min(1, 2 - fullness(lastRequest))),

    /** The last request that every row knows. */
    settledRequest: (lastRequest: number): number => (first()?.since ?? lastRequest + 1) - 1,

    isEmpty: () => first() === undefined,

    clear() {
      queue = [];
      head = 0;
      characters = 0;
      stored = 0;
    },
  };
};

export type Behind = ReturnType<typeof createBehind>;
