import type { Consent } from '../../consent/consent.ts';
import { CONTROL_KEY, isControlKey, readControl, TOTALS } from './control.ts';
import type { Disk } from './disk.ts';
import {
  CONTROL_RANGE,
  claimKey,
  DEAD_RANGE,
  EVENT_RANGE,
  isEventKey,
  isNewer,
  keyText,
  kindOf,
  type Writes,
} from './records.ts';

/** The user wanted the queue forgotten while the disk did not answer. What a newer version has stored stays. */
export const forgetQueue = async ({ ask }: Disk): Promise<void> => {
  for (const range of [CONTROL_RANGE, EVENT_RANGE, DEAD_RANGE]) {
    const found = await ask((disk) => disk.entries(range));
    const ours = found.filter(([key, record]) => !isControlKey(key) && !isNewer(record));
    await ask((disk) => disk.deleteMany(ours.map(([key]) => key)));
  }
};

/**
 * Appends what was kept in memory to the disk, in one transaction. Keys name their page, so none meets another. The later
 * choice of the user wins; another tab may opt out until the last moment.
 */
export const adopt = async ({ ask }: Disk, records: Writes, consent: Consent): Promise<void> => {
  if (records.length === 0) return;
  const own = readControl(records.find(([key]) => isControlKey(key))?.[1], 'enabled');
  const kept = records.filter(([key]) => !isControlKey(key));
  const counted = kept.filter(([key]) => kindOf(key) === 'counted');
  let adopted: string | undefined;

  const merge = ([stored, ...known]: unknown[]): Writes => {
    if (consent.is('wiped')) return [];
    // After a lost connection this runs twice: where the first run committed, change nothing.
    if (adopted !== undefined && JSON.stringify(stored) === adopted) return [];
    const control = readControl(stored, own.consent);
    for (const total of TOTALS) control[total] += own[total];
    const isOptIn = consent.mayAct() && own.chosenAt > control.chosenAt;
    const isOptOut = own.consent !== 'enabled' && own.chosenAt >= control.chosenAt;
    // Opted out on the disk, and not in again since: nothing of it may be kept or sent.
    const isForgotten = control.consent === 'disabled' && !isOptIn;
    if (isForgotten) {
      control.purged += kept.filter(([key]) => ['event', 'dead'].includes(String(kindOf(key)))).length;
    } else {
      if (isOptIn || isOptOut) {
        control.consent = own.consent;
        control.chosenAt = own.chosenAt;
      }
      if (own.wait.until > control.wait.until) control.wait = own.wait;
      control.refusedKey ??= own.refusedKey;
    }
    adopted = JSON.stringify(control);
    if (isForgotten) return [[CONTROL_KEY, control]];
    // Impressions that another tab of the session has counted on the disk meanwhile.
    const repeats = new Set(
      counted.flatMap(([, mark], i) => (known[i] === undefined ? [] : [Object(mark).event])),
    );
    const fresh = kept.filter(([key]) => !isEventKey(key) || !repeats.has(keyText(key)));
    // A request under way finds its claim beside that of the disk.
    const claim: Writes = own.claim ? [[claimKey(own.claim.id), own.claim]] : [];
    return [...fresh, ...claim, [CONTROL_KEY, control]];
  };
  await ask((disk) => disk.update<unknown>([CONTROL_KEY, ...counted.map(([key]) => key)], merge));
};
