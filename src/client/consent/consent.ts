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

/** A dated choice, as the log stores it and the tabs send it. */
export interface ChoiceRecord<Consent = Choice> {
  consent: Consent;
  /** Unix milliseconds; 0 if the user has never chosen. */
  chosenAt: number;
}

/** A date that lies further ahead comes from a clock that was wrong. */
const MAX_SKEW_MS = 10 * 60_000;

/**
 * The user's consent in this page: one object that all parts ask. `may…` says what the user allows, and no more; elsewhere `can…` and
 * `isActive` say that the page still runs, too.
 */
export const createConsent = (initial: State, now: () => number) => {
  const listeners: ((before: State) => unknown)[] = [];
  const startedAt = now();
  let state = initial;
  /** Date of the choice in force, and of the last one made in this page. */
  let chosenAt = 0;
  let ownAt = 0;
  const is = (...states: State[]): boolean => states.includes(state);

  const set = async (next: State): Promise<void> => {
    const before = state;
    state = next;
    // Only a repeated opt-in changes nothing. A repeated opt-out deletes again: this page may have begun without consent, and other pages may
    // have stored something.
    if (before !== 'enabled' || next !== before)
      await Promise.all(listeners.map((listener) => listener(before)));
  };

  /** What the log keeps. */
  const record = (): ChoiceRecord => ({
    consent: state === 'pending' ? 'enabled' : state === 'wiped' ? 'disabled' : state,
    chosenAt,
  });

  /**
   * Whether `choice` is older than `other`. An opt-out wins a tie, and over a date that lies ahead: without that, a clock that is set back
   * would make it void.
   */
  const isSuperseded = (choice: ChoiceRecord<unknown>, other: ChoiceRecord): boolean => {
    const ahead = other.chosenAt - choice.chosenAt;
    return choice.consent === 'enabled'
      ? (ahead > 0 || (ahead === 0 && other.consent !== 'enabled')) && other.chosenAt < now() + MAX_SKEW_MS
      : ahead > 0 && other.chosenAt <= now();
  };

  return {
    is,
    record,
    isSuperseded,
    /** Whether anything may be shown, synced and kept: in memory only, while the choice is pending. */
    mayAct: () => is('enabled', 'pending'),
    /** Whether anything may be kept on the device. */
    mayWrite: () => is('enabled'),
    /** Whether what was captured before this moment may still be stored. */
    mayFinish: () => !is('disabled', 'wiped'),
    /** Whether queued events may be sent. */
    maySend: () => is('enabled', 'draining'),
    /** Whether the choice of this date was made in this page, or is none. What the page captured came before it, whatever the clock says. */
    isOwn: (at: number): boolean => at === 0 || at === ownAt,
    /**
     * Takes a choice of another tab or an earlier visit, unless a later one is in force. Resolves when all listeners are done.
     */
    async hear(heard: ChoiceRecord<Choice | 'wiped'>): Promise<void> {
      const isOptIn = heard.consent === 'enabled';
      // The host knows better than an opt-in before this page, and after a wipe only the host opts in.
      const isPast = isOptIn && state !== 'enabled' && heard.chosenAt < startedAt;
      const isKnown = heard.consent === state && heard.chosenAt === chosenAt;
      if (isPast || isKnown || is('wiped') || isSuperseded(heard, record())) return;
      chosenAt = heard.chosenAt;
      await set(heard.consent);
    },
    /** The user decided here. Resolves like `hear`. Without a choice before, there is nothing that may be kept or sent. */
    decide(decision: Decision): Promise<void> {
      // After what this page knows of, whatever the clock says.
      chosenAt = ownAt = Math.max(now(), chosenAt + 1);
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
