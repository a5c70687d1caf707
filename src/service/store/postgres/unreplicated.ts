import type { ClientBase } from 'pg';

/** Where PostgreSQL's warning comes from when an administrator ends the wait for a synchronous standby (`syncrep.c`). */
const ROUTINE = 'SyncRepWaitForLSN';

const unreplicated = new WeakSet<ClientBase>();

/** Listens for commits that are stored here, and perhaps not on the standby that was to have them before the answer. */
export const watchReplication = (client: ClientBase): void => {
  client.on('notice', ({ routine }) => {
    if (routine === ROUTINE) unreplicated.add(client);
  });
};

/** True from then on: it cannot be told which of the statements under way it was. */
export const isUnreplicated = (client: ClientBase): boolean => unreplicated.has(client);
