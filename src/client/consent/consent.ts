import type { Store } from '../platform/store.ts';

/** What the user chose, as the log keeps it. `draining`: opted out, what is queued is still sent. */
export type Choice = 'enabled' | 'disabled' | 'draining';

/** What happens to queued events when the user opts out. */
export type OptOutPolicy = 'keep' | 'send' | 'purge';

/** What the user's last choice, or a wipe, lets this page do. */
type State =
  /** The user has not chosen: the page works in memory, and nothing is stored or sent. */
  | 'pending'
  | 'enabled'
  /** Opted out. What was captured before is still stored, and what is queued is still sent. */
  | 'draining'
  /** Opted out. What was captured before is still stored, and waits. */
  | 'keeping'
  /** Opted out. */
  | 'disabled'
  /** All is deleted, and nothing is written until the host enables the client again. */
  | 'wiped';

/**
 * The user's consent in this page: one object that all parts ask. `may…` says what the user allows, and no more; elsewhere `can…` and
 * `isActive` say that the page still runs, too.
 */
export const createConsent = (initial: State) => {
  const listeners: ((before: State) => unknown)[] = [];
  let state = initial;
  const is = (...states: State[]): boolean => states.includes(state);

  /** The user chose, here, in another tab or on an earlier visit. Resolves when the listeners have done what that makes them do. */
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
    mayFinish: () => is('enabled', 'pending', 'draining', 'keeping'),
    /** Whether queued events may be sent. */
    maySend: () => is('enabled', 'draining'),
    /** The choice that the log keeps for this state. */
    choice: (): Choice => (is('enabled', 'pending') ? 'enabled' : is('draining') ? 'draining' : 'disabled'),
    set,
    /** The user opted out here. Without a choice before, there is nothing that may be kept or sent. */
    optOut(policy: OptOutPolicy): Promise<void> {
      const keeps = is('enabled', 'draining', 'keeping');
      if (policy === 'send' && !is('pending')) return set('draining');
      return set(policy === 'keep' && keeps ? 'keeping' : 'disabled');
    },
    /** Calls `listener` after each change, with the state before it. A promise that it returns must not reject. */
    subscribe: (listener: (before: State) => unknown): void => void listeners.push(listener),
  };
};

export type Consent = ReturnType<typeof createConsent>;

/**
 * Brings the user's choice, or a wipe, to the log while the delivery cannot be loaded. The delivery does the rest when it is there.
 * The shape of the record is the log's; a test compares both, as what this chunk and a later one share would load first.
 */
export const storeChoice = async (
  log: Store,
  consent: Choice,
  policy: OptOutPolicy | 'wipe' | undefined,
  now: number,
): Promise<void> => {
  if (policy === 'wipe') return log.clear();
  const key = ['control', 1, 'meta'];
  // A newer version's records are left alone.
  await log.update<{ v: number }>([key], ([found]) =>
    found && found.v > 1 ? [] : [[key, { ...found, v: 1, consent, chosenAt: now }]],
  );
  if (policy !== 'purge') return;
  const records = await log.entries<{ v?: number; consent?: Choice } | undefined>();
  const queue = records.filter(([, record]) => record?.v === 1 && !record.consent);
  await log.deleteMany(queue.map(([each]) => each));
};
