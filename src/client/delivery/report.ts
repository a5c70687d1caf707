import type { Notify } from '../notice.ts';
import type { BatchDelivery } from './deliver.ts';
import type { Settled } from './event-moves.ts';

const about = (delivery: BatchDelivery): string | undefined => {
  if (delivery.type === 'in-doubt') return 'no answer could be read';
  return delivery.type === 'accepted' ? undefined : delivery.reason;
};

const kindOf = (delivery: BatchDelivery) => {
  const status = delivery.type === 'rejected' ? delivery.status : 0;
  if (status === 401 || status === 403) return 'unauthorized';
  return status === 404 ? 'not-found' : 'deliver';
};

/** Tells the host what became of one batch. */
export const report = (notify: Notify, delivery: BatchDelivery, settled: Settled): void => {
  const { delivered, skipped, dropped, inDoubt } = settled;
  if (delivered.length > 0) notify({ type: 'delivered', events: delivered });
  for (const skip of skipped) notify({ type: 'skipped', ...skip });
  for (const drop of dropped) notify({ type: 'dropped', ...drop });
  if (inDoubt.length > 0) notify({ type: 'in-doubt', events: inDoubt });
  if (delivery.type === 'accepted' || delivery.type === 'rejected') {
    for (const message of delivery.problems) notify({ type: 'failed', kind: 'answer', message });
  }
  const message = about(delivery);
  if (message !== undefined) {
    const cause = delivery.type === 'in-doubt' ? { cause: delivery.cause } : {};
    notify({ type: 'failed', kind: kindOf(delivery), message, ...cause });
  }
};
