import type { Store } from '../platform/store.ts';
import type { TabLink } from '../platform/tab-channel.ts';

/** What the user chose, by the same names in this page, in its log and in the messages between the tabs. */
export type Choice =
  | 'enabled'
  /** Opted out. What was captured before is still stored, and what is queued is still sent. */
  | 'draining'
  /** Opted out. What was captured before is still stored, and waits. */
  | 'keeping'
  /** Opted out. What was captured before and is not stored yet is forgotten. */
  | 'disabled';

/** What happens to queued events when the user opts out. */
export type OptOutPolicy = 'keep' | 'send' | 'purge';

/** What the user asked of this page: to opt in, to opt out, or to forget everything. */
export type Decision = 'enable' | OptOutPolicy | 'wipe';

/** What the user's last choice, or a wipe, lets this page do. */
type State =
  | Choice
  /** The user has not chosen: the page works in memory, and nothing is stored or sent. */
  | 'pending'
  /** All is deleted, and nothing is written until the host enables the client again. */
  | 'wiped';

/** What a log keeps of a choice. */
export interface ChoiceRecord {
  consent: Choice;
  /** When the user made the choice in this page, in Unix milliseconds; 0 where they never did. */
  chosenAt: number;
}

/**
 * The user's consent in this page: one object that all parts ask. `may…` says what the user allows, and no more; elsewhere `can…` and
 * `isActive` say that the page still runs, too.
 */
export const createConsent = (initial: State, now: () => number) => {
  const listeners: ((before: State) => unknown)[] = [];
  let state = initial;
  let chosenAt = 0;
  const is = (...states: State[]): boolean => states.includes(state);

  const set = async (next: State): Promise<void> => {
    const before = state;
    state = next;
    // Only a repeated opt-in changes nothing. A repeated opt-out deletes again: this page may have begun without consent, and other pages may
    // have stored something.
    if (before !== 'enabled' || next !== before)
      await Promise.all(listeners.map((listener) => listener(before)));
  };

  return {
    is,
    /** Whether anything may be shown, synced and kept: in memory only, while the choice is pending. */
    mayAct: () => is('enabled', 'pending'),
    /** Whether anything may be kept on the device. */
    mayWrite: () => is('enabled'),
    /** Whether what was captured before this moment may still be stored. */
    mayFinish: () => !is('disabled', 'wiped'),
    /** Whether queued events may be sent. */
    maySend: () => is('enabled', 'draining'),
    /** What the log keeps. */
    record: (): ChoiceRecord => ({
      consent: state === 'pending' ? 'enabled' : state === 'wiped' ? 'disabled' : state,
      chosenAt,
    }),
    /** The user chose in another tab or on an earlier visit. Resolves when the listeners have done what that makes them do. */
    follow: set,
    /** The user decided here. Resolves like `follow`. Without a choice before, there is nothing that may be kept or sent. */
    decide(decision: Decision): Promise<void> {
      chosenAt = now();
      if (decision === 'enable') return set('enabled');
      if (decision === 'wipe') return set('wiped');
      if (decision === 'send' && !is('pending')) return set('draining');
      return set(decision === 'keep' && is('enabled', 'draining', 'keeping') ? 'keeping' : 'disabled');
    },
    /** Calls `listener` after each change, with the state before it. A promise that it returns must not reject. */
    subscribe: (listener: (before: State) => unknown): void => void listeners.push(listener),
  };
};

export type Consent = ReturnType<typeof createConsent>;

/** Where the log is. */
interface LogSetup {
  logName: string;
  platform: {
    openStore: (name: string) => Store;
    openChannel?: (name: string) => TabLink;
  };
}

/**
 * Brings a decision to the log while the delivery cannot be loaded. The delivery does the rest when it is there.
 * The shape of the record is the log's; a test compares both, as what this chunk and a later one share would load first.
 */
export const decideWithoutDelivery = async (
  { logName, platform }: LogSetup,
  decision: Decision,
  record: ChoiceRecord,
): Promise<void> => {
  const { openStore, openChannel = (name) => new BroadcastChannel(name) } = platform;
  const log = openStore(logName);
  if (decision === 'wipe') {
    // First, as the disk may hang. Of an opt-out the other tabs find a record in the log; of a wipe nothing is left there.
    try {
      const channel = openChannel(logName);
      channel.postMessage({ type: 'consent', choice: 'wiped' });
      channel.close();
    } catch {
      // Some frames have no channel.
    }
    return log.clear();
  }
  const key = ['control', 1, 'meta'];
  // A newer version's records are left alone.
  await log.update<{ v: number }>([key], ([found]) =>
    found && found.v > 1 ? [] : [[key, { ...found, v: 1, ...record }]],
  );
  if (decision !== 'purge') return;
  const records = await log.entries<{ v?: number; consent?: Choice } | undefined>();
  const queue = records.filter(([, found]) => found?.v === 1 && !found.consent);
  await log.deleteMany(queue.map(([each]) => each));
};
