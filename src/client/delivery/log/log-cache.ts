import type { StoreKey } from '../../platform/store.ts';
import type { DeliveryContext } from '../delivery.ts';
import {
  type Claim,
  formatKey,
  isEventKey,
  type LogState,
  type QueuedEvent,
  readLogState,
} from './records.ts';

/** Maximum number of cached events; more than an exit flush can send. The next page that reads the log sends older events. */
const MAX_EVENTS = 1_600;

/**
 * Creates the copy of the log in memory: the log state, the claims, and the captured events that no request holds. Exit
 * handlers read it, because they cannot wait for the disk. It may contain events that are gone; the service deduplicates them.
 */
export const createLogCache = ({
  consent,
  lifecycle,
  channel,
}: Pick<DeliveryContext, 'consent' | 'lifecycle' | 'channel'>) => {
  let last: LogState | undefined;
  let claims: Claim[] = [];
  const unsent = new Map<string, QueuedEvent>();
  /** LogState record that a full disk did not take. Its pause applies to this page. */
  let unwrittenState: LogState | undefined;
  /** Whether the last read found the log state. */
  let hadRecord = false;
  /** Set from the return from the back/forward cache until the next read, because another page may have wiped the record. */
  let mayBeWiped = false;

  /** Reads a record. Without a stored choice, this page's choice applies. */
  const read = (record: unknown): LogState => {
    const state = readLogState(record, consent.record().consent);
    if (unwrittenState && unwrittenState.pause.until > state.pause.until) {
      state.pause = unwrittenState.pause;
      state.rejectedKeyFingerprint = unwrittenState.rejectedKeyFingerprint;
    }
    return state;
  };
  /** Follows a wipe by another page if the record is missing after the return. */
  const detectWipe = (record: unknown): void => {
    if (mayBeWiped && record === undefined) void consent.merge({ ...consent.record(), consent: 'wiped' });
    mayBeWiped = false;
  };
  const dropUnsent = (keys: string[]): void => {
    for (const key of keys) unsent.delete(key);
  };

  const stop = lifecycle.on('restored', () => {
    mayBeWiped = hadRecord;
    // Other tabs may have sent these events in the meantime.
    unsent.clear();
  });
  channel.subscribe((item) => {
    if (item.type === 'events-removed') dropUnsent(item.keys);
    if (item.type !== 'sender-idle') return;
    // No page sends before the time that the server requested from another page.
    last = { ...(last ?? read(undefined)), pause: item.pause };
    claims = [];
  });

  return {
    read,
    detectWipe,
    state: (): LogState => read(last),
    claims: () => claims,
    /** Caches the log state that was read or written, and its claims. Applies its choice to this page. */
    set(record: unknown, found = claims): LogState {
      detectWipe(record);
      claims = found;
      last = read(record);
      hadRecord = record !== undefined;
      if (hadRecord) void consent.merge(last);
      return last;
    },
    /** Holds the pause of a record that a full disk rejected, until a step is written. */
    holdUnwritten(state?: LogState): void {
      unwrittenState = state;
    },
    /** Clears the log state and the claims, because the log has moved or was emptied. */
    clear(): void {
      last = undefined;
      claims = [];
      hadRecord = false;
      mayBeWiped = false;
    },
    unsent: (): QueuedEvent[] => [...unsent.values()],
    addUnsent(stored: QueuedEvent[]): void {
      for (const item of stored) unsent.set(formatKey(item.key), item);
      for (const oldest of unsent.keys()) {
        if (unsent.size <= MAX_EVENTS) break;
        unsent.delete(oldest);
      }
    },
    /** Removes events that a request holds now. */
    removeUnsent: (batch: QueuedEvent[]): void => dropUnsent(batch.map(({ key }) => formatKey(key))),
    clearUnsent: (): void => unsent.clear(),
    /** Removes events that left the log, here and in the other tabs. */
    publishRemoved(keys: StoreKey[]): void {
      const gone = keys.filter(isEventKey).map(formatKey);
      dropUnsent(gone);
      if (gone.length > 0) channel.post({ type: 'events-removed', keys: gone });
    },
    stop,
  };
};

export type LogCache = ReturnType<typeof createLogCache>;
