import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { inTime } from '../in-time.ts';
import { errorFacts, type Log } from '../log.ts';
import type { Store, UserWork } from '../store/store.ts';
import { InDoubtError, NotNowError } from '../store/write-errors.ts';
import { type Track, trackWork } from '../users/track-work.ts';
import { divideTrack, isDivisible } from './divide.ts';
import { NotStoredError } from './hand-over.ts';
import { createNeighbours, type Owner } from './neighbours.ts';
import { NotTakenError } from './post.ts';
import { createTakeOver } from './take-over.ts';
import { TRACK_FORMAT } from './track-text.ts';

const ANNOUNCE_MS = 1_000;
/** Until the others have asked again who is there. */
const FAREWELL_MS = 1_500;
/** Longer than this a database that is away keeps no replica from beginning, or from ending. */
const ASK_MS = 2_000;

/** What became of a part that was handed over. */
export type Fate = 'stored' | 'failed' | 'not_taken' | 'in_doubt';

export interface ShareUsersOptions {
  store: Store;
  log: Log;
  onHandedOver(fate: Fate): void;
}

/**
 * Shares the users out among the replicas of a database: each does what is for its own users and hands over what is for
 * those of others, so that what it remembers of its users stays right, and nobody waits for a row that another has
 * locked. The store needs none of it: a work is safe wherever it is done. So replicas may disagree for a while on who
 * is there, and what another one cannot take is done here.
 */
export const createShareUsers = ({ store, log, onHandedOver }: ShareUsersOptions) => {
  const { roster } = store;
  const id = randomUUID();
  const token = randomBytes(32).toString('hex');
  const neighbours = createNeighbours(id);
  let timer: NodeJS.Timeout | undefined;
  let announcing = Promise.resolve();
  let leaving: Promise<void> | undefined;

  const announce = async (url: string) => {
    try {
      const present = await roster?.announce({
        id,
        url,
        token,
        machine: hostname(),
        format: TRACK_FORMAT,
      });
      if (!leaving) neighbours.meet(present ?? []);
    } catch (error) {
      // The database is away, as every request will tell. Nobody need be forgotten for it.
      log.debug(errorFacts(error), 'other replicas not asked for');
    }
    if (!leaving) timer = setTimeout(goOn, ANNOUNCE_MS, url).unref();
  };

  const goOn = (url: string) => {
    announcing = announce(url);
  };

  const sayFarewell = async () => {
    clearTimeout(timer);
    // What is said last must be that it is gone.
    await inTime(
      announcing.then(() => roster?.leave(id)),
      ASK_MS,
    );
    // In parts: where the process itself stands still, what has come meanwhile is answered before the last of them ends.
    if (neighbours.count() > 0) for (let part = 0; part < 3; part += 1) await pause(FAREWELL_MS / 3);
    neighbours.meet([]);
  };

  const doHere = (part: Track): Promise<void> => store.writeUsers(trackWork(part));

  const doPart = async (owner: Owner, part: Track): Promise<void> => {
    if (!owner.handOver) return doHere(part);
    try {
      await owner.handOver.send(part);
      onHandedOver('stored');
    } catch (error) {
      if (error instanceof NotTakenError) {
        if (neighbours.avoid(owner)) log.info(errorFacts(error), 'another replica is avoided for a while');
        onHandedOver('not_taken');
        return doHere(part);
      }
      if (error instanceof NotStoredError || error instanceof NotNowError) onHandedOver('failed');
      else {
        if (neighbours.avoid(owner)) log.warn(errorFacts(error), 'another replica did not answer');
        onHandedOver('in_doubt');
      }
      throw error;
    }
  };

  const divided = async (track: Track): Promise<void> => {
    const parts = [...divideTrack(track, neighbours.ownerOf)];
    const done = await Promise.allSettled(parts.map(([owner, part]) => doPart(owner, part)));
    const failures = done.flatMap((part) => (part.status === 'rejected' ? [part.reason as unknown] : []));
    if (failures.length === 0) return;
    const [cause] = failures;
    // The same again would count twice what is stored of it.
    if (failures.length < done.length) throw new InDoubtError('Only a part was stored', { cause });
    throw failures.find((failure) => failure instanceof InDoubtError) ?? cause;
  };

  return {
    /** Answers the other replicas. */
    takeOver: createTakeOver({ store, token, log, isLeaving: () => leaving !== undefined }),
    /** How many others there are. */
    others: neighbours.count,

    /** As the store does it. What is divided is stored in parts: where one fails, others may be stored. */
    async writeUsers<T>(work: UserWork<T>): Promise<T> {
      const { track, lookups } = work;
      if (!track || neighbours.count() === 0 || !isDivisible(track, lookups)) return store.writeUsers(work);
      // A track has nothing to give.
      return divided(track) as Promise<T>;
    },

    async join(url: string): Promise<void> {
      if (!roster || leaving) return;
      goOn(url);
      await inTime(announcing, ASK_MS);
    },

    leave(): Promise<void> {
      leaving ??= roster ? sayFarewell() : Promise.resolve();
      return leaving;
    },
  };
};
