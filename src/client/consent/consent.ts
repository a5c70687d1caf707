/** Treatment of queued events on opt-out: `keep` them until the next opt-in, `send` them, or `purge` (delete) them. */
export type OptOutPolicy = 'keep' | 'send' | 'purge';

/** User's choice, in pages, logs and tab messages: opted in, opted out with a policy, or `disabled`, which purges the queue. */
export type ConsentState = 'enabled' | Exclude<OptOutPolicy, 'purge'> | 'disabled';

/** Decision of the user in this page: opt in, opt out, or delete everything. */
export type Decision = 'enable' | OptOutPolicy | 'wipe';

/** Consent state of this page: the user's last choice, or a wipe. */
export type State =
  | ConsentState
  /** No choice yet. The page works in memory, and stores and sends nothing. */
  | 'pending'
  /** Everything is deleted. Nothing is written until the host enables the client again. */
  | 'wiped';

/** Choice with its time, as stored in the log and sent between tabs. */
export interface ConsentRecord<Consent = ConsentState> {
  consent: Consent;
  /** Unix milliseconds; 0 if the user has never chosen. */
  decidedAt: number;
}

/** Maximum time in the future; a later one comes from a wrong clock. */
const MAX_SKEW_MS = 10 * 60_000;

/**
 * Creates the consent of this page, which all parts share. `may…` returns whether the user allows an action. `can…` and
 * `isActive` elsewhere also require that the page still runs.
 */
export const createConsent = (initial: State, now: () => number) => {
  const listeners: ((before: State) => unknown)[] = [];
  const startedAt = now();
  let state = initial;
  /** Time of the current choice, and of the last choice made in this page. */
  let decidedAt = 0;
  let ownAt = 0;
  const is = (...states: State[]): boolean => states.includes(state);

  const set = async (next: State): Promise<void> => {
    const before = state;
    state = next;
    // Only a repeated opt-in changes nothing. A repeated opt-out deletes again, because this page may have started without
    // consent while other pages stored something.
    if (before !== 'enabled' || next !== before)
      await Promise.all(listeners.map((listener) => listener(before)));
  };

  /** Returns the record for the log. */
  const record = (): ConsentRecord => ({
    consent: state === 'pending' ? 'enabled' : state === 'wiped' ? 'disabled' : state,
    decidedAt,
  });

  /**
   * Returns whether `choice` is older than `other`. An opt-out wins a tie, and wins over a time in the future; otherwise a
   * clock that is set back would void it.
   */
  const isSuperseded = (choice: ConsentRecord<unknown>, other: ConsentRecord): boolean => {
    const ahead = other.decidedAt - choice.decidedAt;
    return choice.consent === 'enabled'
      ? (ahead > 0 || (ahead === 0 && other.consent !== 'enabled')) && other.decidedAt < now() + MAX_SKEW_MS
      : ahead > 0 && other.decidedAt <= now();
  };

  return {
    is,
    record,
    isSuperseded,
    /** Returns whether the client may show, sync and keep anything. While the choice is pending, it keeps data only in memory. */
    mayAct: () => is('enabled', 'pending'),
    /** Returns whether anything may be stored on the device. */
    mayWrite: () => is('enabled'),
    /** Returns whether events captured before now may still be stored. */
    mayStorePending: () => !is('disabled', 'wiped'),
    /** Returns whether queued events may be sent. */
    maySend: () => is('enabled', 'send'),
    /**
     * Returns whether the choice of this time was made in this page, or never. Events of the page were captured before the
     * choice, regardless of the clock.
     */
    isOwn: (at: number): boolean => at === 0 || at === ownAt,
    /**
     * Applies a choice of another tab or an earlier visit, unless a later choice applies. Resolves when all listeners are done.
     */
    async merge(other: ConsentRecord<ConsentState | 'wiped'>): Promise<void> {
      const isOptIn = other.consent === 'enabled';
      // The host overrides an opt-in from before this page, and after a wipe only the host can opt in.
      const isPast = isOptIn && state !== 'enabled' && other.decidedAt < startedAt;
      const isKnown = other.consent === state && other.decidedAt === decidedAt;
      if (isPast || isKnown || is('wiped') || isSuperseded(other, record())) return;
      decidedAt = other.decidedAt;
      await set(other.consent);
    },
    /**
     * Applies a decision of this page. Resolves like `merge`. Without an earlier choice, pending events are neither kept nor
     * sent.
     */
    decide(decision: Decision): Promise<void> {
      // Later than every known choice, regardless of the clock.
      decidedAt = ownAt = Math.max(now(), decidedAt + 1);
      if (decision === 'enable') return set('enabled');
      if (decision === 'wipe') return set('wiped');
      if (decision === 'send' && !is('pending')) return set('send');
      return set(decision === 'keep' && is('enabled', 'send', 'keep') ? 'keep' : 'disabled');
    },
    /**
     * Calls `listener` after each change, with the previous state. A promise that it returns must not reject. Subscribers:
     * `create-placard.ts` for the banners and the host, `delivery/create-delivery.ts` for events and requests.
     */
    subscribe: (listener: (before: State) => unknown): void => void listeners.push(listener),
  };
};

export type Consent = ReturnType<typeof createConsent>;
