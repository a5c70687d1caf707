import type { Choice } from '../../consent/consent.ts';
import type { StoreKey } from '../../platform/store.ts';
import { noPause, type Pause } from '../../platform/waits.ts';
import type { DeliveryContext } from '../delivery.ts';
import { type Claim, isClaim, isText, VERSION } from './records.ts';

/** Ways out of the log. What was captured is the sum of these and of what is still stored. */
export const TOTALS = ['delivered', 'discarded', 'evicted', 'expired', 'purged'] as const;
export type Total = (typeof TOTALS)[number];

/** Everything about the log that is not an event; read and written in the transactions that change them. */
export interface Control extends Record<Total, number> {
  v: typeof VERSION;
  consent: Choice;
  /** When the user chose so, in Unix milliseconds; 0 where they never did. */
  chosenAt: number;
  /** The request under way, but for last flushes and for those of pages that took too long. */
  claim: Claim | null;
  /** Nothing may be sent before it is over, in any tab. */
  wait: Pause;
  /** Fingerprint of the key that the server refused. */
  refusedKey: string | null;
  /** When a page first found something that is too old, in Unix milliseconds; 0 where nothing is. */
  oldSince: number;
}

export const CONTROL_KEY: StoreKey = ['control', VERSION, 'meta'];

export const isControlKey = (key: StoreKey): boolean => String(key) === String(CONTROL_KEY);

export const newControl = (consent: Choice): Control => ({
  v: VERSION,
  consent,
  chosenAt: 0,
  claim: null,
  wait: noPause(),
  refusedKey: null,
  oldSince: 0,
  delivered: 0,
  discarded: 0,
  evicted: 0,
  expired: 0,
  purged: 0,
});

const CHOICES: unknown[] = ['enabled', 'disabled', 'draining'] satisfies Choice[];

/** Reads a stored record member by member. A member that cannot be read is as in a new record with the choice `consent`. */
export const readControl = (record: unknown, consent: Choice): Control => {
  const control = newControl(consent);
  const stored: Partial<Control> = Object(record);
  const numbers = ['chosenAt', 'oldSince', ...TOTALS] as const;
  for (const name of numbers) if (Number.isFinite(stored[name])) control[name] = stored[name]!;
  if (CHOICES.includes(stored.consent)) control.consent = stored.consent!;
  if (isClaim(stored.claim)) control.claim = stored.claim;
  if (Number.isFinite(stored.wait?.until) && Number.isFinite(stored.wait!.failures))
    control.wait = stored.wait!;
  if (isText(stored.refusedKey)) control.refusedKey = stored.refusedKey;
  return control;
};

/** The control record as this page saw it last. A last flush reads nothing, so it asks here. */
export const createLastControl = ({
  consent,
  lifecycle,
  news,
  notify,
}: Pick<DeliveryContext, 'consent' | 'lifecycle' | 'news' | 'notify'>) => {
  let last: Control | undefined;
  /** The choice that the record had last. */
  let stored: Choice = 'enabled';
  /** Choices of this page on their way to the record: what is read there meanwhile is older. */
  let writes = 0;
  /** The pause that a full disk could not take. It holds in this page. */
  let held: Control | undefined;
  /** The log had a record when this page looked. */
  let isStored = false;
  /** The page has come back from the back/forward cache, and has not read the record that was there before. */
  let mayBeWiped = false;

  /** A record without a choice, or no record, has the choice of this page. */
  const read = (record: unknown): Control => {
    const control = readControl(record, consent.choice());
    if (held && held.wait.until > control.wait.until) {
      control.wait = held.wait;
      control.refusedKey = held.refusedKey;
    }
    return control;
  };
  /** The page follows a choice that was made in another tab or on an earlier visit. */
  const follow = (choice: Choice): void => {
    if (writes > 0 || choice === stored) return;
    stored = choice;
    if (choice === consent.choice() || consent.is('wiped')) return;
    void consent.set(choice);
    notify({ type: 'consent', state: consent.mayAct() ? 'enabled' : 'disabled' });
  };
  /** A record that is gone when the page comes back was wiped by another page. */
  const noticeWipe = (record: unknown): void => {
    if (mayBeWiped && record === undefined) {
      void consent.set('wiped');
      notify({ type: 'consent', state: 'disabled' });
    }
    mayBeWiped = false;
  };

  const stop = lifecycle.on('restored', () => {
    mayBeWiped = isStored;
  });
  news.subscribe((item) => {
    // No page may send before the time that the server named to another one.
    if (item.type === 'idle') last = { ...(last ?? read(undefined)), wait: item.wait };
  });

  return {
    read,
    follow,
    noticeWipe,
    /** Keeps the record that was read or written. */
    keep(record: unknown): Control {
      noticeWipe(record);
      last = read(record);
      isStored = record !== undefined;
      if (isStored) follow(last.consent);
      return last;
    },
    /** Has `write` bring the choice of this page to the record. */
    async store(write: (choice: Choice) => Promise<void>): Promise<void> {
      const choice = consent.choice();
      writes += 1;
      try {
        await write(choice);
        stored = choice;
      } finally {
        writes -= 1;
      }
    },
    /** Holds the pause of a record that a full disk did not take, until a step is written. */
    hold(control?: Control): void {
      held = control;
    },
    last: (): Control => read(last),
    /** The log goes on in memory or on the disk, or was emptied: what was seen elsewhere says nothing of it. */
    forget(): void {
      last = undefined;
      isStored = false;
      mayBeWiped = false;
    },
    stop,
  };
};

export type LastControl = ReturnType<typeof createLastControl>;
