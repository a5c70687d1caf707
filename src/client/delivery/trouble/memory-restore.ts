import type { Permission } from '../../permission.ts';
import type { StoreKey } from '../../platform/store.ts';
import type { DiskRequest, InMemory } from '../delivery.ts';
import type { Writes } from '../log/records.ts';
import type { SharedFunctions } from './shared-functions.ts';

const getKind = (key: StoreKey): unknown => [key].flat()[0];
const isQueued = (key: StoreKey): boolean => ['event', 'dead'].includes(String(getKind(key)));

/**
 * Appends the records in memory to the disk, in one transaction. Keys contain the page ID, so they never collide. The later
 * choice of the user applies, because another tab may opt out until the transaction begins.
 */
const persistMemoryLog = async (
  { LOG_STATE_KEY, isLogStateKey, isEventKey, isNewer, formatKey, readLogState, TOTALS }: SharedFunctions,
  request: DiskRequest,
  records: Writes,
  permission: Permission,
  hadRecord: boolean,
): Promise<void> => {
  if (records.length === 0) return;
  const own = readLogState(records.find(([key]) => isLogStateKey(key))?.[1], 'enabled');
  const kept = records.filter(([key]) => !isLogStateKey(key));
  const marks = kept.filter(([key]) => getKind(key) === 'dedup');
  let written: string | undefined;
  let isNewerVersion = false;

  const merge = ([stored, ...known]: unknown[]): Writes => {
    isNewerVersion = isNewer(stored);
    // Another tab may have wiped the disk since this page checked it.
    if (isNewerVersion || permission.is('wiped') || (hadRecord && stored === undefined)) return [];
    // After a lost database connection this runs twice. If the first run committed, change nothing.
    if (written !== undefined && JSON.stringify(stored) === written) return [];
    const state = readLogState(stored, own.consent);
    const { consent: choice, decidedAt } = state;
    for (const total of TOTALS) state[total] += own[total];
    const isLater = !permission.isSuperseded(own, state);
    const isOptIn = isLater && permission.mayAct();
    // This page missed an opt-out that is on the disk. Events that it captured afterwards are discarded, and earlier ones too
    // if the opt-out discards the queue.
    const isOwn = choice === own.consent && decidedAt === own.decidedAt;
    const isMissed = choice !== 'enabled' && !isOptIn && !isOwn;
    const isDiscarded = (key: StoreKey): boolean =>
      isMissed && isQueued(key) && (choice === 'disabled' || Number([key].flat()[2]) > decidedAt);
    state.purged += kept.filter(([key]) => isDiscarded(key)).length;
    if (isMissed && choice === 'disabled') {
      written = JSON.stringify(state);
      return [[LOG_STATE_KEY, state]];
    }
    if (isOptIn || (isLater && own.consent !== 'enabled')) {
      state.consent = own.consent;
      state.decidedAt = own.decidedAt;
    }
    if (own.pause.until > state.pause.until) state.pause = own.pause;
    state.rejectedKeyFingerprint ??= own.rejectedKeyFingerprint;
    written = JSON.stringify(state);
    // Impressions that another tab of the session stored on the disk in the meantime.
    const repeats = new Set(
      marks.flatMap(([, mark], i) => (known[i] === undefined ? [] : [Object(mark).event])),
    );
    const fresh = kept.filter(
      ([key]) => !isDiscarded(key) && (!isEventKey(key) || !repeats.has(formatKey(key))),
    );
    return [...fresh, [LOG_STATE_KEY, state]];
  };
  await request((disk) => disk.update<unknown>([LOG_STATE_KEY, ...marks.map(([key]) => key)], merge));
  // The log stays in memory; the notice was emitted before.
  if (isNewerVersion) throw new Error();
};

export const createRestore =
  (shared: SharedFunctions, permission: Permission) =>
  async (request: DiskRequest, from: InMemory, hadRecord: boolean): Promise<void> => {
    await persistMemoryLog(shared, request, await from.store.entries(), permission, hadRecord);
  };
