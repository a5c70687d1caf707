/** What the user chose. `draining`: opted out, what is queued is still sent. */
export type Choice = 'enabled' | 'disabled' | 'draining';

/** What happens to queued events when the user opts out. */
export type OptOutPolicy = 'keep' | 'send' | 'purge';

/**
 * What this page knows of the user's choice, the one place that says what is allowed. After a wipe nothing is allowed,
 * and nothing is written, until the host enables the client again.
 */
export const createConsent = (initial: Choice, onChange: (mayStore: boolean) => void = () => undefined) => {
  let choice: Choice | 'wiped' = initial;
  const mayStore = (): boolean => choice === 'enabled';

  /** The user chose, here, in another tab or on an earlier visit. */
  const set = (next: Choice | 'wiped'): void => {
    const before = mayStore();
    choice = next;
    if (mayStore() !== before) onChange(!before);
  };

  return {
    set,
    optOut: (policy: OptOutPolicy): void => set(policy === 'send' ? 'draining' : 'disabled'),
    mayStore,
    maySend: (): boolean => choice === 'enabled' || choice === 'draining',
    isWiped: (): boolean => choice === 'wiped',
    choice: (): Choice => (choice === 'wiped' ? 'disabled' : choice),
  };
};

export type Consent = ReturnType<typeof createConsent>;
