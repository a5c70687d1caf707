/** What the user chose. `draining`: opted out, what is queued is still sent. */
export type Choice = 'enabled' | 'disabled' | 'draining';

/** What happens to queued events when the user opts out. */
export type OptOutPolicy = 'keep' | 'send' | 'purge';

export interface Consent {
  /** The last choice that this page knows of. After a wipe nothing is written until the host enables the client again. */
  state: Choice | 'wiped';
  /** The user chose, here, in another tab or on an earlier visit. */
  set(state: Choice | 'wiped'): void;
  optOut(policy: OptOutPolicy): void;
  /** Whether anything may be stored, synced or shown. */
  mayStore(): boolean;
}

/** The user's choice in this page: one object that all parts ask. `onChange` is called when `mayStore` changes. */
export const createConsent = (
  initial: Choice,
  onChange: (mayStore: boolean) => void = () => undefined,
): Consent => {
  const consent: Consent = {
    state: initial,
    mayStore: () => consent.state === 'enabled',
    set(state) {
      const before = consent.mayStore();
      consent.state = state;
      if (consent.mayStore() !== before) onChange(!before);
    },
    optOut: (policy) => consent.set(policy === 'send' ? 'draining' : 'disabled'),
  };
  return consent;
};
