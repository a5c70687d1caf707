import type { Consent } from '../../consent/consent.ts';
import type { StoreKey } from '../../platform/store.ts';
import type { Disk } from './disk.ts';
import {
  CONTROL_KEY,
  CONTROL_RANGE,
  type CountedRecord,
  claimKey,
  DEAD_RANGE,
  EVENT_RANGE,
  type EventKey,
  isNewer,
  keyText,
  readControl,
  TOTALS,
  type Writes,
} from './records.ts';

const isControl = (key: StoreKey): boolean => String(key) === String(CONTROL_KEY);

/** The user wanted the queue forgotten while the disk did not answer. What a newer version has stored stays. */
export const forgetQueue = async ({ ask }: Disk): Promise<void> => {
  for (const range of [CONTROL_RANGE, EVENT_RANGE, DEAD_RANGE]) {
    const found = await ask((disk) => disk.entries(range));
    const ours = found.filter(([key, record]) => !isControl(key) && !isNewer(record));
    await ask((disk) => disk.deleteMany(ours.map(([key]) => key)));
  }
};

/**
 * Appends what was kept in memory to the disk, in one transaction. Keys name their page, so none meets another. The later
 * choice of the user wins; another tab may opt out until the last moment.
 */
export const adopt = async ({ ask }: Disk, records: Writes, consent: Consent): Promise<void> => {
  if (records.length === 0) return;
  const own = readControl(records.find(([key]) => isControl(key))?.[1], 'enabled');
  const kept = records.filter(([key]) => !isControl(key));
  const counted = kept.filter(([key]) => (key as string[])[0] === 'counted') as [StoreKey, CountedRecord][];

  const merge = ([stored, ...known]: unknown[]): Writes => {
    if (consent.state === 'wiped') return [];
    const control = readControl(stored, own.consent);
    for (const total of TOTALS) control[total] += own[total];
    const isOptIn = consent.mayAct() && own.chosenAt > control.chosenAt;
    const isOptOut = own.consent !== 'enabled' && own.chosenAt >= control.chosenAt;
    // Opted out on the disk, and not in again since: nothing of it may be kept or sent.
    if (control.consent === 'disabled' && !isOptIn) {
      control.purged += kept.filter(([key]) => ['event', 'dead'].includes((key as string[])[0]!)).length;
      return [[CONTROL_KEY, control]];
    }
    if (isOptIn || isOptOut) {
      control.consent = own.consent;
      control.chosenAt = own.chosenAt;
    }
    if (own.wait.until > control.wait.until) control.wait = own.wait;
    control.refusedKey ??= own.refusedKey;
    // Impressions that another tab of the session has counted on the disk meanwhile.
    const repeats = new Set(counted.flatMap(([, { event }], i) => (known[i] === undefined ? [] : [event])));
    const fresh = kept.filter(([key]) => !repeats.has(keyText(key as EventKey)));
    // A request under way finds its claim beside that of the disk.
    const claim: Writes = own.claim ? [[claimKey(own.claim.id), own.claim]] : [];
    return [...fresh, ...claim, [CONTROL_KEY, control]];
  };
  await ask((disk) => disk.update<unknown>([CONTROL_KEY, ...counted.map(([key]) => key)], merge));
};
