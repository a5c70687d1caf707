import { InDoubtError, NotNowError } from '../store/write-errors.ts';
import type { Track } from '../users/track-work.ts';
import { createWaiting } from '../waiting.ts';
import type { Outcome } from './outcome.ts';
import { NotTakenError } from './post.ts';
import { writeTrack } from './track-text.ts';

/** Requests to one replica at a time; what comes meanwhile shares the next. */
const MOST_REQUESTS = 2;
const MOST_TRACKS = 64;
const MOST_CHARACTERS = 2 * 1024 * 1024;

/** The replica is well, but this it could not store. */
export class NotStoredError extends Error {
  override name = 'NotStoredError';
}

const errorOf = (index: number, { inDoubt, notNow }: Outcome): Error => {
  if (inDoubt?.includes(index)) return new InDoubtError('Another replica does not know what it stored');
  if (notNow?.includes(index)) return new NotNowError('Another replica cannot store it now');
  return new NotStoredError('Another replica could not store it');
};

interface Waiting {
  text: string;
  resolve(): void;
  reject(error: unknown): void;
}

/** Hands tracks over to one other replica, those that come together in one request. */
export const createHandOver = (
  { post, close }: { post(body: string): Promise<Outcome>; close(): void },
  mostRequests = MOST_REQUESTS,
) => {
  const waiting = createWaiting<Waiting>({
    refuse: ({ reject }) => reject(new NotTakenError('Another replica takes too long')),
  });
  let underWay = 0;
  let isScheduled = false;
  let isClosed = false;

  const next = (): Waiting[] => {
    const tracks: Waiting[] = [];
    let characters = 0;
    while (waiting.count() > 0 && tracks.length < MOST_TRACKS && characters < MOST_CHARACTERS) {
      const [track] = waiting.take(1).items;
      tracks.push(track!);
      characters += track!.text.length;
    }
    return tracks;
  };

  /** What has not been sent is not sent any more. */
  const giveBack = (cause?: unknown) => {
    for (const { reject } of waiting.take(waiting.count()).items)
      reject(new NotTakenError('Another replica is gone', { cause }));
  };

  const sendNext = async () => {
    const tracks = next();
    underWay += 1;
    try {
      const outcome = await post(`[${tracks.map(({ text }) => text).join(',')}]`);
      for (const index of outcome.failed) tracks[index]?.reject(errorOf(index, outcome));
      for (const { resolve } of tracks) resolve();
    } catch (error) {
      for (const { reject } of tracks) reject(error);
      // Those who come later are not to wait as long for the same.
      giveBack(error);
    }
    underWay -= 1;
    start();
  };

  const start = () => {
    isScheduled = false;
    while (waiting.count() > 0 && underWay < mostRequests) void sendNext();
    if (isClosed && underWay === 0) close();
  };

  return {
    /** Resolves once it is durable. Rejects with a `NotTakenError` where it was surely not begun; else nobody knows. */
    send: (track: Track): Promise<void> =>
      new Promise((resolve, reject) => {
        if (isClosed) {
          reject(new NotTakenError('Another replica is gone'));
          return;
        }
        waiting.add({ text: writeTrack(track), resolve, reject });
        if (isScheduled || underWay >= mostRequests) return;
        isScheduled = true;
        setImmediate(start);
      }),

    /** Sends nothing any more; what is under way gets its answer. */
    close() {
      isClosed = true;
      giveBack();
      if (underWay === 0) close();
    },
  };
};

export type HandOver = ReturnType<typeof createHandOver>;
