import { writeProfile } from '../../profiles/profile-text.ts';
import type { Entry } from '../entry.ts';
import { idOf } from './add-changes.ts';
import type { Behind } from './behind.ts';
import type { CommitQueue } from './commit-queue.ts';

/** Rows that one group brings up to date, and their characters: an ordinary share, so that no group is a long one. */
const SHARE_ROWS = 400;
const SHARE_CHARACTERS = 512 * 1024;

/** When nothing has come for this long, rows that are behind are brought up to date. */
const REST_MS = 500;

export interface FollowingRowsOptions {
  behind: Behind;
  queue(): CommitQueue;
  lastRequest(): number;
  /** False while what memory says of users is not what is stored. */
  mayFollow(): boolean;
  /** The last request that every row knows. */
  settledRequest(): number;
  /** Hears how many characters a row has. */
  weigh(characters: number): void;
}

/** Brings the rows of users up to date with memory, behind the requests that changed it. */
export const createFollowingRows = ({
  behind,
  queue,
  lastRequest,
  mayFollow,
  settledRequest,
  weigh,
}: FollowingRowsOptions) => {
  let timer: NodeJS.Timeout | null = null;
  let isEnding = false;
  /** Those that groups write, until these are stored. */
  let underWay: { entry: Entry; number: number }[] = [];

  const isNotStored = ({ number }: { number: number }) => !queue().isDurable(number);

  /** Adds rows that are behind to the group: the late ones, or as many as fit when there is nothing else to do. */
  const catchUp = (all: boolean) => {
    const group = queue().group();
    const number = queue().number();
    underWay = underWay.filter(isNotStored);
    let characters = 0;
    for (let rows = 0; mayFollow(); rows += 1) {
      if (Math.max(rows / SHARE_ROWS, characters / SHARE_CHARACTERS) >= behind.shares(lastRequest())) break;
      const entry = behind.take(lastRequest(), all);
      if (!entry) break;
      entry.commit = number;
      underWay.push({ entry, number });
      const text = writeProfile(entry.profile);
      characters += text.length;
      weigh(text.length);
      group.updates.push(text, lastRequest(), idOf(entry.profile.brazeId));
    }
    group.progress = { lastRequest: lastRequest(), settledRequest: settledRequest() };
  };

  const follow = () => {
    timer = null;
    if (isEnding || behind.isEmpty()) return;
    if (queue().isBusy()) {
      followSoon();
      return;
    }
    if (!mayFollow()) return;
    catchUp(true);
    // Nobody waits for it; where it fails, the rows are behind as before.
    queue().durable().then(follow, followSoon);
  };

  /** When nothing else comes. */
  const followSoon = () => {
    timer ??= setTimeout(follow, REST_MS).unref();
  };

  return {
    followSoon,
    seal: () => catchUp(false),

    /** Those whose group was not stored are behind again. */
    putBack() {
      behind.putBack(underWay.filter(isNotStored).map(({ entry }) => entry));
      underWay = [];
    },

    clear() {
      behind.clear();
      underWay = [];
    },

    /** For so long at most: the next start has little to read then. What cannot be written now, that start reads. */
    async settle(mostMs: number): Promise<void> {
      isEnding = true;
      if (timer) clearTimeout(timer);
      const until = performance.now() + mostMs;
      while (mayFollow() && !behind.isEmpty() && performance.now() < until) {
        catchUp(true);
        const isStored = await queue()
          .durable()
          .then(
            () => true,
            () => false,
          );
        if (!isStored) return;
      }
    },
  };
};
