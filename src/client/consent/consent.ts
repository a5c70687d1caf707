/** What the user chose. `draining`: opted out, what is queued is still sent. */
export type Choice = 'enabled' | 'disabled' | 'draining';

/** What happens to queued events when the user opts out. */
export type OptOutPolicy = 'keep' | 'send' | 'purge';

/** What the user allows. `may…` says what they allow, and no more; elsewhere `can…` and `isActive` say that the page still runs, too. */
export interface Consent {
  /**
   * The last choice that this page knows of. `pending`: the user has not chosen, and everything stays in memory. After a wipe
   * nothing is written until the host enables the client again.
   */
  state: Choice | 'pending' | 'wiped';
  /** The user chose, here, in another tab or on an earlier visit. */
  set(state: Choice | 'wiped'): void;
  optOut(policy: OptOutPolicy): void;
  /** Calls `listener` after each change, with the state before it. */
  subscribe(listener: (before: Consent['state']) => void): void;
  /** Whether anything may be shown, synced and kept: in memory only, while the choice is pending. */
  mayAct(): boolean;
  /** Whether it may be kept on the device. */
  mayWrite(): boolean;
  /** Whether events captured before an opt-out in this page may still be stored: unless it purges them. */
  mayFinish(): boolean;
  /** Whether queued events may be sent. */
  maySend(): boolean;
}

/** The user's choice in this page: one object that all parts ask. */
export const createConsent = (initial: Consent['state']): Consent => {
  const listeners: ((before: Consent['state']) => void)[] = [];
  let keepsCaptured = false;
  const consent: Consent = {
    state: initial,
    mayAct: () => consent.mayWrite() || consent.state === 'pending',
    mayWrite: () => consent.state === 'enabled',
    mayFinish: () => consent.mayAct() || keepsCaptured,
    maySend: () => consent.mayWrite() || consent.state === 'draining',
    set(state) {
      const before = consent.state;
      if (state === before) return;
      consent.state = state;
      keepsCaptured = false;
      for (const listener of listeners) listener(before);
    },
    optOut(policy) {
      // The client and its delivery both call it for one opt-out.
      const keeps = policy !== 'purge' && (consent.mayWrite() || keepsCaptured);
      consent.set(policy === 'send' ? 'draining' : 'disabled');
      keepsCaptured = keeps;
    },
    subscribe: (listener) => void listeners.push(listener),
  };
  return consent;
};
