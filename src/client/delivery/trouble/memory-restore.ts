import type { Consent } from '../../consent/consent.ts';
import type { StoreKey } from '../../platform/store.ts';
import type { Disk, InMemory } from '../log/disk.ts';
import type { Writes } from '../log/records.ts';
import type { Kit } from './kit.ts';

/** The user wanted the queue forgotten while the disk did not answer. What a newer version has stored stays. */
const forgetQueue = async ({ isControlKey, isNewer, rangeOf }: Kit, { ask }: Disk): Promise<void> => {
  for (const kind of ['control', 'event', 'dead']) {
    const found = await ask((disk) => disk.entries(rangeOf(kind)));
    const ours = found.filter(([key, record]) => !isControlKey(key) && !isNewer(record));
    await ask((disk) => disk.deleteMany(ours.map(([key]) => key)));
  }
};

const kindOf = (key: StoreKey): unknown => [key].flat()[0];
const isQueued = (key: StoreKey): boolean => ['event', 'dead'].includes(String(kindOf(key)));

/**
 * Appends what was kept in memory to the disk, in one transaction. Keys name their page, so none meets another. The later
 * choice of the user wins; another tab may opt out until the last moment.
 */
const adopt = async (
  { CONTROL_KEY, isControlKey, isEventKey, isNewer, keyText, newerVersion, readControl, TOTALS }: Kit,
  { ask }: Disk,
  records: Writes,
  consent: Consent,
  hadRecord: boolean,
): Promise<void> => {
  if (records.length === 0) return;
  const own = readControl(records.find(([key]) => isControlKey(key))?.[1], 'enabled');
  const kept = records.filter(([key]) => !isControlKey(key));
  const counted = kept.filter(([key]) => kindOf(key) === 'counted');
  let adopted: string | undefined;
  let isNewerVersion = false;

  const merge = ([stored, ...known]: unknown[]): Writes => {
    isNewerVersion = isNewer(stored);
    // Another tab may have wiped the disk since this page has looked.
    if (isNewerVersion || consent.is('wiped') || (hadRecord && stored === undefined)) return [];
    // After a lost connection this runs twice: where the first run committed, change nothing.
    if (adopted !== undefined && JSON.stringify(stored) === adopted) return [];
    const control = readControl(stored, own.consent);
    const { consent: choice, chosenAt } = control;
    for (const total of TOTALS) control[total] += own[total];
    const isOptIn = consent.mayAct() && own.chosenAt > chosenAt;
    const isOptOut = own.consent !== 'enabled' && own.chosenAt >= chosenAt;
    // Of an opt-out on the disk, and no opt-in since, this page has not known: nothing that it captured after it may be kept or
    // sent, nor what it captured before, where that is to be sent no more.
    const isMissed = choice !== 'enabled' && !isOptIn;
    const isForgotten = (key: StoreKey): boolean =>
      isMissed && isQueued(key) && (choice === 'disabled' || Number([key].flat()[2]) > chosenAt);
    control.purged += kept.filter(([key]) => isForgotten(key)).length;
    if (isMissed && choice === 'disabled') {
      adopted = JSON.stringify(control);
      return [[CONTROL_KEY, control]];
    }
    if (isOptIn || isOptOut) {
      control.consent = own.consent;
      control.chosenAt = own.chosenAt;
    }
    if (own.wait.until > control.wait.until) control.wait = own.wait;
    control.refusedKey ??= own.refusedKey;
    adopted = JSON.stringify(control);
    // Impressions that another tab of the session has counted on the disk meanwhile.
    const repeats = new Set(
      counted.flatMap(([, mark], i) => (known[i] === undefined ? [] : [Object(mark).event])),
    );
    const fresh = kept.filter(
      ([key]) => !isForgotten(key) && (!isEventKey(key) || !repeats.has(keyText(key))),
    );
    return [...fresh, [CONTROL_KEY, control]];
  };
  await ask((disk) => disk.update<unknown>([CONTROL_KEY, ...counted.map(([key]) => key)], merge));
  if (isNewerVersion) throw newerVersion();
};

/** Brings what memory holds to the disk. `hadRecord`: the disk had a control record a moment ago. */
export const createRestore =
  (kit: Kit, consent: Consent) =>
  async (disk: Disk, from: InMemory, hadRecord: boolean): Promise<void> => {
    const isWiped = from.owed === 'everything';
    if (isWiped) await disk.ask((each) => each.clear());
    if (from.owed === 'queue') await forgetQueue(kit, disk);
    delete from.owed;
    await adopt(kit, disk, await from.store.entries(), consent, hadRecord && !isWiped);
  };
