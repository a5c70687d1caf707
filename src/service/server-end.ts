import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as turnEnd } from 'node:timers/promises';
import { inTime } from './in-time.ts';

export interface ServerEndOptions {
  /** How long a connection without a request may still bring one, in milliseconds. */
  lingerMs: number;
  /** How long open requests get to end after that, in milliseconds. */
  drainMs: number;
}

/** As many connections as the system keeps waiting for node, which takes one a turn. */
const BACKLOG = 511;

/** Accepts the clients that have connected: when listening ends, the system resets the connections that were not accepted. */
const letIn = async (server: Server): Promise<void> => {
  let isQuiet = false;
  const accept = () => {
    isQuiet = false;
  };
  server.on('connection', accept);
  await turnEnd();
  for (let turn = 0; turn < BACKLOG && !isQuiet; turn += 1) {
    isQuiet = true;
    await turnEnd();
  }
  server.off('connection', accept);
};

/**
 * Readies a server for its end. What it answers takes no more connections, and resolves when the last is closed. Once it
 * does not listen, answers should say `Connection: close`: a client whose next request is on its way reads it then.
 * Sooner it would come back only to find the door closing. One that stays silent is closed after `lingerMs`.
 */
export const createServerEnd = (server: Server, { lingerMs, drainMs }: ServerEndOptions) => {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  return async (): Promise<void> => {
    await letIn(server);
    // Not http's own `close`, which ends connections that look idle at once: requests on their way would be reset.
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
    await inTime(closed, lingerMs);
    // A timer runs before what has come is read: at this turn's end it is no longer idle.
    await turnEnd();
    // Closes what is idle, and ends http's own timer for slow requests.
    server.close();
    // Browsers open connections ahead of need; for node, one that has never said a word is not idle.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    const late = setTimeout(() => server.closeAllConnections(), drainMs);
    await closed;
    clearTimeout(late);
  };
};
