import type { Consent } from '../../src/client/consent/consent.ts';
import type { Delivery } from '../../src/client/delivery/delivery.ts';

/** A delivery whose user chooses as in the client: for the page first, then for the log. */
export const withConsent = (delivery: Delivery, consent: Consent): Delivery => ({
  ...delivery,
  enable() {
    void consent.set('enabled');
    return delivery.enable();
  },
  disable(policy) {
    void consent.optOut(policy);
    return delivery.disable(policy);
  },
  wipe() {
    void consent.set('wiped');
    return delivery.wipe();
  },
});
