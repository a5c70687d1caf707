/** What the user chose. `draining`: opted out, what is queued is still sent. */
export type Choice = 'enabled' | 'disabled' | 'draining';

/** What happens to queued events when the user opts out. */
export type OptOutPolicy = 'keep' | 'send' | 'purge';

export const choiceOf = (policy: OptOutPolicy): Choice => (policy === 'send' ? 'draining' : 'disabled');

/**
 * What this page knows of the user's choice, the one place that says what is allowed. After a wipe nothing is allowed,
 * and nothing is written, until the host enables the client again.
 */
export const createConsent = (initial: Choice, onChange: (mayStore: boolean) => void = () => undefined) => {
  let choice: Choice | 'wiped' = initial;
  const mayStore = (): boolean => choice === 'enabled';

  return {
    mayStore,
    maySend: (): boolean => choice === 'enabled' || choice === 'draining',
    isWiped: (): boolean => choice === 'wiped',
    choice: (): Choice => (choice === 'wiped' ? 'disabled' : choice),
    /** The user chose, here, in another tab or on an earlier visit. */
    set(next: Choice | 'wiped'): void {
      const before = mayStore();
      choice = next;
      if (mayStore() !== before) onChange(!before);
    },
  };
};

export type Consent = ReturnType<typeof createConsent>;
