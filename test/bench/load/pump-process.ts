// A load generator in a process of its own: told by its parent what to do, it answers with what it measured.
import { pump } from './pump.ts';
import { createTrackRequests } from './track-body.ts';

export interface PumpOrder {
  port: number;
  key: string;
  connections: number;
  seconds: number;
  warmUpSeconds?: number;
  rate?: number;
  /** Users are picked from this many, `hotShare` of the picks from the `hotUsers` that are busy. */
  users: number;
  hotUsers?: number;
  hotShare?: number;
}

process.on('message', async (order: PumpOrder) => {
  const { users, hotUsers = users, hotShare = 0 } = order;
  // Busy users are spread over the whole table, as they are in life.
  const stride = Math.max(1, Math.floor(users / hotUsers));
  const pickUser = () =>
    Math.random() < hotShare
      ? (Math.floor(Math.random() * hotUsers) * stride) % users
      : Math.floor(Math.random() * users);
  process.send?.(await pump({ ...order, next: createTrackRequests({ key: order.key, pickUser }) }));
});
process.send?.('ready');

// Nobody is left to stop it where the bench itself has ended.
process.once('disconnect', () => process.exit());
