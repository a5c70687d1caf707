/** What the user chose. `draining`: opted out, what is queued is still sent. */
export type Choice = 'enabled' | 'disabled' | 'draining';

/** What happens to queued events when the user opts out. */
export type OptOutPolicy = 'keep' | 'send' | 'purge';

/** A choice, or that there is none. */
type State = Choice | 'pending' | 'wiped';

/**
 * The user's choice: one object that all parts ask, for this page and for the disk. `may…` says what the user allows, and no more;
 * elsewhere `can…` and `isActive` say that the page still runs, too.
 */
export const createConsent = (initial: State) => {
  const listeners: ((before: State) => unknown)[] = [];
  let state = initial;
  let keepsCaptured = false;
  /** What the listeners still do for the last change. */
  let work: Promise<unknown> = Promise.resolve();
  /** As the disk had it last. */
  let stored: Choice = 'enabled';
  /** Choices of this page on their way to the disk: what is read there meanwhile is older. */
  let writes = 0;

  const consent = {
    /**
     * The last choice that this page knows of. `pending`: the user has not chosen, and everything stays in memory. After a wipe
     * nothing is written until the host enables the client again.
     */
    get state(): State {
      return state;
    },
    /** Whether anything may be shown, synced and kept: in memory only, while the choice is pending. */
    mayAct: () => state === 'enabled' || state === 'pending',
    /** Whether it may be kept on the device. */
    mayWrite: () => state === 'enabled',
    /** Whether events captured before an opt-out in this page may still be stored: unless it purges them. */
    mayFinish: () => consent.mayAct() || keepsCaptured,
    /** Whether queued events may be sent. */
    maySend: () => state === 'enabled' || state === 'draining',

    /** The user chose, here, in another tab or on an earlier visit. */
    set(next: Choice | 'wiped'): void {
      const before = state;
      if (next === before) return;
      state = next;
      keepsCaptured = false;
      work = Promise.all(listeners.map((listener) => listener(before)));
    },
    /** The same for an opt-out; returns the choice that it is. */
    optOut(policy: OptOutPolicy): Choice {
      // The client and its delivery both call it for one opt-out.
      const keeps = policy !== 'purge' && (consent.mayWrite() || keepsCaptured);
      const choice = policy === 'send' ? 'draining' : 'disabled';
      consent.set(choice);
      keepsCaptured = keeps;
      return choice;
    },
    /** Calls `listener` after each change, with the state before it. A promise that it returns must not reject. */
    subscribe: (listener: (before: State) => unknown): void => void listeners.push(listener),
    /** Resolves when the listeners have done what the last change makes them do. */
    settled: (): Promise<unknown> => work,

    /** Brings a choice of this page to the disk by `write`. */
    store(choice: Choice, write: () => Promise<void>): Promise<void> {
      writes += 1;
      const isStored = write().then(() => {
        stored = choice;
      });
      return isStored.finally(() => {
        writes -= 1;
      });
    },
    /** The disk has this choice. Returns whether it is news, and the page's choice now. */
    wasRead(choice: Choice): boolean {
      if (writes > 0 || choice === stored) return false;
      stored = choice;
      if (choice === state || state === 'wiped') return false;
      consent.set(choice);
      return true;
    },
  };
  return consent;
};

export type Consent = ReturnType<typeof createConsent>;
