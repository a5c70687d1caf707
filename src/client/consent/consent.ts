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
