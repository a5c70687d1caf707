/** What the user chose. `draining`: opted out, what is queued is still sent. */
export type Choice = 'enabled' | 'disabled' | 'draining';

/** What happens to queued events when the user opts out. */
export type OptOutPolicy = 'keep' | 'send' | 'purge';

export interface Consent {
  /**
   * The last choice that this page knows of. `pending`: the user has not chosen, and everything stays in memory. After a wipe
   * nothing is written until the host enables the client again.
   */
  state: Choice | 'pending' | 'wiped';
  /** The user chose, here, in another tab or on an earlier visit. */
  set(state: Choice | 'wiped'): void;
  optOut(policy: OptOutPolicy): void;
  /** The user opted out in this page last, and what it had captured before may still be stored. */
  keepsCaptured: boolean;
  /** Calls `listener` after each change, with the state before it. */
  subscribe(listener: (before: Consent['state']) => void): void;
  /** Whether anything may be shown, synced and kept: in memory only, while the choice is pending. */
  mayStore(): boolean;
  /** Whether it may be kept on the device. */
  mayWrite(): boolean;
}

/** The user's choice in this page: one object that all parts ask. */
export const createConsent = (initial: Consent['state']): Consent => {
  const listeners: ((before: Consent['state']) => void)[] = [];
  const consent: Consent = {
    state: initial,
    keepsCaptured: false,
    mayStore: () => consent.mayWrite() || consent.state === 'pending',
    mayWrite: () => consent.state === 'enabled',
    set(state) {
      const before = consent.state;
      if (state === before) return;
      consent.state = state;
      consent.keepsCaptured = false;
      for (const listener of listeners) listener(before);
    },
    optOut(policy) {
      // The client and its delivery both call it for one opt-out.
      const keeps = policy !== 'purge' && (consent.mayWrite() || consent.keepsCaptured);
      consent.set(policy === 'send' ? 'draining' : 'disabled');
      consent.keepsCaptured = keeps;
    },
    subscribe: (listener) => void listeners.push(listener),
  };
  return consent;
};
