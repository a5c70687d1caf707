import type { Consent } from '../../first/consent.ts';
import type { Store, StoreKey } from '../../platform/store.ts';
import {
  CONTROL_KEY,
  CONTROL_RANGE,
  type CountedRecord,
  DEAD_RANGE,
  EVENT_RANGE,
  type EventKey,
  isNewer,
  keyText,
  readControl,
  TOTALS,
  type Writes,
} from './records.ts';

export interface AdoptOptions {
  /** A purge did not reach the disk. */
  isPurgeOwed: boolean;
  /** An opt-out or a wipe in another tab may reach this one until the last moment. */
  consent: Consent;
}

const isControl = ([key]: [StoreKey, unknown]): boolean => String(key) === String(CONTROL_KEY);
const isCounted = (record: [StoreKey, unknown]): record is [StoreKey, CountedRecord] =>
  (record[0] as StoreKey[])[0] === 'counted';
const isEvent = ([[kind]]: [StoreKey[], unknown]): boolean => kind === 'event' || kind === 'dead';

/**
 * Appends what was kept in memory to the disk, in one transaction. Keys name their page, so none meets another, and a
 * request under way finds its records there. The later choice of the user wins.
 */
export const adoptMemory = async (
  records: [StoreKey, unknown][],
  disk: Store,
  { isPurgeOwed, consent }: AdoptOptions,
): Promise<void> => {
  if (records.length === 0 && !isPurgeOwed) return;
  const memory = readControl(records.find(isControl)?.[1], 'enabled');
  const kept = records.filter((record) => !isControl(record));
  const old: [StoreKey, unknown][] = [];
  if (isPurgeOwed) {
    for (const range of [CONTROL_RANGE, EVENT_RANGE, DEAD_RANGE]) old.push(...(await disk.entries(range)));
  }
  const gone = old.filter((record) => !isControl(record) && !isNewer(record[1]));
  const counted = kept.filter(isCounted);
  const count = (some: [StoreKey, unknown][]): number =>
    some.filter((record) => isEvent(record as never)).length;

  const move = () =>
    disk.update<unknown>([CONTROL_KEY, ...counted.map(([key]) => key)], ([stored, ...known]) => {
      if (consent.state === 'wiped') return [];
      const control = readControl(stored, memory.consent);
      for (const total of TOTALS) control[total] += memory[total];
      control.purged += count(gone);
      const isOptIn = consent.mayAct() && memory.chosenAt > control.chosenAt;
      // Opted out on the disk, and not in again since: nothing of it may be kept or sent.
      const isRefused = control.consent === 'disabled' && !isOptIn;
      if (isRefused) control.purged += count(kept);
      else if (isOptIn || memory.consent !== 'enabled') {
        control.consent = memory.consent;
        control.chosenAt = memory.chosenAt;
      }
      if (memory.wait.until > control.wait.until) control.wait = memory.wait;
      control.refusedKey ??= memory.refusedKey;
      control.revision += 1;
      const writes: Writes = gone.map(([key]) => [key, undefined]);
      // Impressions that another tab of the session has counted on the disk meanwhile.
      const repeats = new Set(counted.flatMap(([, { event }], i) => (known[i] === undefined ? [] : [event])));
      const fresh = kept.filter(([key]) => !repeats.has(keyText(key as EventKey)));
      return [...writes, ...(isRefused ? [] : fresh), [CONTROL_KEY, control]];
    });
  try {
    await move();
  } catch (error) {
    // A disk that is too full to count what goes can still forget.
    if (!isPurgeOwed) throw error;
    await disk.clear();
    await move();
  }
};
