import { createStoreDecision } from '../../src/client/decide.ts';
import type { Delivery } from '../../src/client/delivery/delivery.ts';
import type { Decision, OptOutPolicy, Permission } from '../../src/client/permission.ts';

/** A delivery whose user decides as in the client: for the page first, then for the log. */
export const withConsent = (delivery: Delivery, permission: Permission) => {
  const decide = (decision: Decision): Promise<void> => {
    void permission.decide(decision);
    return delivery.applyDecision(decision, createStoreDecision(decision, permission));
  };
  return {
    ...delivery,
    enable: () => decide('enable'),
    disable: (policy: OptOutPolicy) => decide(policy),
    wipe: () => decide('wipe'),
  };
};
