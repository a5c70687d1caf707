import type { Consent, Decision, OptOutPolicy } from '../../src/client/consent/consent.ts';
import type { Delivery } from '../../src/client/delivery/delivery.ts';

/** A delivery whose user decides as in the client: for the page first, then for the log. */
export const withConsent = (delivery: Delivery, consent: Consent) => {
  const decide = (decision: Decision): Promise<void> => {
    void consent.decide(decision);
    return delivery.applyDecision(decision);
  };
  return {
    ...delivery,
    enable: () => decide('enable'),
    disable: (policy: OptOutPolicy) => decide(policy),
    wipe: () => decide('wipe'),
  };
};
