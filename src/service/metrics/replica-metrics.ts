import { Counter, Gauge, type Registry } from 'prom-client';
import type { Fate } from '../replicas/share-users.ts';

/** Tells how a replica and its neighbours share the users. */
export const createReplicaMetrics = (registry: Registry) => {
  const registers = [registry];
  const handedOver = new Counter({
    name: 'placard_handed_over_total',
    help: 'Parts of requests handed over to the replica that their users belong to, by what became of them.',
    labelNames: ['fate'],
    registers,
  });
  return {
    /** How many other replicas there are, told when asked for. */
    neighbours(count: () => number): void {
      new Gauge({
        name: 'placard_replicas',
        help: 'Replicas of the database that share its users, as far as this one knows; it counts itself.',
        registers,
        collect() {
          this.set(count() + 1);
        },
      });
    },

    /** One part of a request that was for the users of another replica. */
    handedOver: (fate: Fate): void => handedOver.labels(fate).inc(),
  };
};
