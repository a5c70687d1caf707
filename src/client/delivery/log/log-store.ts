import type { Choice, Consent } from '../../first/consent.ts';
import { createFallbackStore } from '../../platform/fallback-store.ts';
import type { Store } from '../../platform/store.ts';
import type { DeliveryContext } from '../context.ts';
import { adoptMemory } from './adopt-memory.ts';
import { CONTROL_KEY, type Control, isNewer, readControl } from './records.ts';

type LogListener = {
  /** A control record was read. */
  onRead?: (control: Control) => void;
  /** Memory mode is over. */
  onDisk?: () => void;
};

const undecided = () => new Error('the user has not decided yet');
/** The control record of a newer version is never changed, so the log goes on in memory. */
const newerVersion = () => new Error('a newer version keeps its events here');

/** Where the log lies: on disk, or in memory while the disk fails, belongs to a newer version, or waits for the user's consent. */
export const createLogStore = ({ consent, clock, notify }: DeliveryContext, disk: Store) => {
  const listeners: LogListener[] = [];
  let lastControl: Control | undefined;
  let isPurgeOwed = false;

  /** A record without a choice, or no record, has the choice of this page. */
  const toControl = (record: unknown): Control => {
    const { state } = consent;
    const choices: Partial<Record<Consent['state'], Choice>> = { pending: 'enabled', wiped: 'disabled' };
    return readControl(record, choices[state] ?? (state as Choice));
  };
  const announce = (control: Control): void => {
    for (const { onRead } of listeners) onRead?.(control);
  };
  /** Keeps the control record that was read or written. */
  const remember = (record: unknown): Control => {
    lastControl = toControl(record);
    if (record !== undefined) announce(lastControl);
    return lastControl;
  };

  const store = createFallbackStore({
    primary: disk,
    clock,
    async probe() {
      // The disk is left alone until then.
      if (consent.state === 'pending') throw undecided();
      const record = await disk.get(CONTROL_KEY);
      if (!isNewer(record)) {
        if (!store.isMemory()) remember(record);
        return;
      }
      // An opt-out holds in every version.
      announce(toControl(record));
      throw newerVersion();
    },
    async adopt(records) {
      await adoptMemory(records, disk, { isPurgeOwed, consent });
      isPurgeOwed = false;
    },
    onMode(on, cause) {
      lastControl = undefined;
      const reason = on ? { reason: (cause as Error | null)?.message ?? String(cause) } : {};
      notify({ type: 'memory-mode', on, ...reason });
      if (!on) for (const { onDisk } of listeners) onDisk?.();
    },
  });
  // What waits in memory goes to the disk with the next write there, or is forgotten.
  consent.subscribe((before) => {
    if (before === 'pending' && !consent.mayAct()) store.forgetMemory();
  });

  return {
    ...store,
    subscribe: (listener: LogListener): void => void listeners.push(listener),
    toControl,
    remember,
    /** The control record as this page saw it last. */
    lastControl: (): Control => lastControl ?? toControl(undefined),
    /** A newer version has taken the log over. */
    leaveToNewer: (): void => store.degrade(newerVersion()),
    /** The user opted out and wants everything forgotten: also what lies on a disk that does not answer now. */
    owePurge(): void {
      isPurgeOwed = store.isMemory();
    },
  };
};
