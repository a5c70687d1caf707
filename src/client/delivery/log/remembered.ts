import type { StoreKey } from '../../platform/store.ts';
import type { DeliveryContext } from '../delivery.ts';
import { type Claim, type Control, isEventKey, keyText, type QueuedEvent, readControl } from './records.ts';

/** The control record and the claims as this page saw them last. A page that leaves cannot wait for a read, so it asks here. */
export const createLastSeen = ({
  consent,
  lifecycle,
  news,
}: Pick<DeliveryContext, 'consent' | 'lifecycle' | 'news'>) => {
  let last: Control | undefined;
  let claims: Claim[] = [];
  /** The control record that could not be written, as the disk was full. Its pause holds in this page. */
  let held: Control | undefined;
  /** The log had a control record when this page looked last. */
  let hadRecord = false;
  /** The page has come back from the back/forward cache, and has not read the record again: another page may have wiped it. */
  let mayBeWiped = false;

  /** A record without a choice, or no record, has the choice of this page. */
  const read = (record: unknown): Control => {
    const control = readControl(record, consent.record().consent);
    if (held && held.wait.until > control.wait.until) {
      control.wait = held.wait;
      control.refusedKey = held.refusedKey;
    }
    return control;
  };
  /** A record that is gone when the page comes back was wiped by another page. */
  const noticeWipe = (record: unknown): void => {
    if (mayBeWiped && record === undefined) void consent.hear({ ...consent.record(), consent: 'wiped' });
    mayBeWiped = false;
  };

  const stop = lifecycle.on('restored', () => {
    mayBeWiped = hadRecord;
  });
  news.subscribe((item) => {
    if (item.type !== 'idle') return;
    // No page may send before the time that the server named to another one.
    last = { ...(last ?? read(undefined)), wait: item.wait };
    claims = [];
  });

  return {
    read,
    noticeWipe,
    /** Keeps the record that was read or written, and the claims beside it. */
    keep(record: unknown, found = claims): Control {
      noticeWipe(record);
      claims = found;
      last = read(record);
      hadRecord = record !== undefined;
      if (hadRecord) void consent.hear(last);
      return last;
    },
    /** Holds the pause of a record that a full disk did not take, until a step is written. */
    hold(control?: Control): void {
      held = control;
    },
    last: (): Control => read(last),
    claims: () => claims,
    /** Forgets what was seen: the log is in another place now, or was emptied. */
    forget(): void {
      last = undefined;
      claims = [];
      hadRecord = false;
      mayBeWiped = false;
    },
    stop,
  };
};

export type LastSeen = ReturnType<typeof createLastSeen>;

/** More than a last flush can carry; older ones are left to the page that reads the log next. */
const MAX_EVENTS = 1_600;

/**
 * What this page captured and no request holds yet, in memory: a page that goes away cannot wait for the disk. It may
 * name events that are gone; sending one again is harmless to a service that counts each event once.
 */
export const createUnsent = ({ consent, news, lifecycle }: DeliveryContext) => {
  const waiting = new Map<string, QueuedEvent>();
  const drop = (keys: string[]): void => {
    for (const key of keys) waiting.delete(key);
  };
  // Other tabs may have sent meanwhile what this one remembers.
  const stop = lifecycle.on('restored', () => waiting.clear());
  news.subscribe((item) => {
    if (item.type === 'gone') drop(item.keys);
  });
  consent.subscribe(() => {
    if (!consent.maySend()) waiting.clear();
  });

  return {
    add(kept: QueuedEvent[]): void {
      for (const item of kept) waiting.set(keyText(item.key), item);
      for (const oldest of waiting.keys()) {
        if (waiting.size <= MAX_EVENTS) break;
        waiting.delete(oldest);
      }
    },
    /** A request holds these events now. */
    inRequest: (batch: QueuedEvent[]): void => drop(batch.map(({ key }) => keyText(key))),
    /** These events have left the log. The other tabs need not remember them either. */
    removed(keys: StoreKey[]): void {
      const gone = keys.filter(isEventKey).map(keyText);
      drop(gone);
      if (gone.length > 0) news.post({ type: 'gone', keys: gone });
    },
    waiting: (): QueuedEvent[] => [...waiting.values()],
    size: (): number => waiting.size,
    stop,
  };
};
