import { isAhead } from '../platform/deadline.ts';
import type { Store, StoreKey } from '../platform/store.ts';
import { COUNTED_KEY } from './counted.ts';
import type { Ledger } from './ledger.ts';
import { recordEvents, type Slice } from './record-events.ts';
import { isText, isTime, isWhole, VERSION } from './records.ts';

/** Whoever jots something down stores it in a moment, or is gone. */
const OWNERS_MS = 2_000;
/** A person does one thing at a time; more in one task is a program's, and no navigation follows it at once. */
const MOST_EVENTS = 4;

/** A slice of captures before it is stored. */
export interface Jotting extends Slice {
  v: typeof VERSION;
  /** Unix milliseconds. */
  jottedAt: number;
  /** Of the store that its tab knew; in another one it is nothing. */
  epoch: string | null;
}

const jottingKey = (id: string): StoreKey => ['control', VERSION, 'jotting', id];

export const isJotting = (record: unknown): record is Jotting =>
  (record as Jotting | undefined)?.v === VERSION &&
  [(record as Jotting).id, (record as Jotting).appId, (record as Jotting).appVersion].every(isText) &&
  Array.isArray((record as Jotting).events) &&
  (record as Jotting).events.every((item) => isWhole(item?.event) && isTime(item.at)) &&
  Number.isFinite((record as Jotting).jottedAt);

/** Until when its own page is left to store it, in Unix milliseconds. */
export const ownersUntil = ({ jottedAt }: Jotting, now: number): number =>
  isAhead(jottedAt + OWNERS_MS, now, OWNERS_MS) ? jottedAt + OWNERS_MS : now;

export interface JottingsOptions {
  /** The real store, also while the others go on in memory. */
  disk: Store;
  isMemory: () => boolean;
  ledger: Ledger;
  now: () => number;
}

/**
 * What somebody just did, put down without a look at anything. Storing an event reads before it writes, and is lost with
 * a page that navigates in the same task, where no back/forward cache keeps it; this is committed as it is asked for.
 * The page itself stores the events a moment later, or whoever comes next does.
 */
export const createJottings = ({ disk, isMemory, ledger, now }: JottingsOptions) => {
  const unremoved = new Set<StoreKey>();

  return {
    /** Leaves impressions and bursts alone: no navigation follows them at once. */
    put(slice: Slice) {
      const { events } = slice;
      if (isMemory()) return undefined;
      if (events.length > MOST_EVENTS || events.every(({ event }) => event.type === 'impression'))
        return undefined;
      const key = jottingKey(slice.id);
      const jotting: Jotting = {
        ...slice,
        v: VERSION,
        jottedAt: now(),
        epoch: ledger.known()?.epoch ?? null,
      };
      let isThere = false;
      disk.setMany([[key, jotting]]).then(
        () => {
          isThere = true;
        },
        () => {
          // The events are about to be stored anyway.
        },
      );
      return {
        key,
        /** It was there to be found by the transaction that stores the events. */
        wasThere: () => isThere && !isMemory(),
        /** The events are stored in memory, or may not be stored at all. */
        async remove() {
          const remove = () => disk.deleteMany([key]);
          unremoved.add(key);
          await remove()
            .catch(remove)
            .then(
              () => unremoved.delete(key),
              () => {
                // It goes when the memory is moved to the disk; should the page be gone before, it is all that is left.
              },
            );
        },
      };
    },

    /** Those whose events are in memory now, or nowhere, and that the disk did not give up so far. */
    unremoved: () => [...unremoved],

    /** Stores what a page that is gone left behind. */
    async adopt({ id, epoch }: Jotting): Promise<void> {
      const key = jottingKey(id);
      const isDone = await ledger.step(
        [key, COUNTED_KEY],
        (meta, [jotting, counted]) => {
          if (!isJotting(jotting)) return null;
          const mayNot =
            meta.consent !== 'enabled' ||
            meta.slices.includes(id) ||
            (epoch !== null && epoch !== meta.epoch);
          const { writes } = mayNot ? { writes: [] } : recordEvents(meta, jotting, counted);
          return { writes: [[key, undefined], ...writes], result: true };
        },
        { create: epoch === null },
      );
      // The store was wiped since.
      if (!isDone) await disk.deleteMany([key]);
    },
  };
};

export type Jottings = ReturnType<typeof createJottings>;
