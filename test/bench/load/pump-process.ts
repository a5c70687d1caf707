// A load generator in a child process: receives its options from the parent and sends its measurements.
import { pump } from './pump.ts';
import { createTrackRequests } from './track-body.ts';

export interface PumpOrder {
  port: number;
  key: string;
  connections: number;
  seconds: number;
  warmUpSeconds?: number;
  rate?: number;
  /** Number of users; `hotShare` of the requests go to `hotUsers` of them. */
  users: number;
  hotUsers?: number;
  hotShare?: number;
}

process.on('message', async (order: PumpOrder) => {
  const { users, hotUsers = users, hotShare = 0 } = order;
  // Hot users are spread over the whole table.
  const stride = Math.max(1, Math.floor(users / hotUsers));
  const pickUser = () =>
    Math.random() < hotShare
      ? (Math.floor(Math.random() * hotUsers) * stride) % users
      : Math.floor(Math.random() * users);
  process.send?.(await pump({ ...order, next: createTrackRequests({ key: order.key, pickUser }) }));
});
process.send?.('ready');

// Exits with the bench.
process.once('disconnect', () => process.exit());
