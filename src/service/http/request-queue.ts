import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Maximum number of requests that wait on one connection. Browsers and proxies do not pipeline. */
const MAX_WAITING = 64;

/**
 * Handles the requests of a connection one at a time: the next starts once the response has left the process. Node would handle
 * all pipelined requests at once, so a client that reads no response would make it buffer all of them.
 */
export const createRequestQueue = () => {
  const queues = new WeakMap<Socket, (() => void)[]>();

  return ({ socket }: IncomingMessage, response: ServerResponse, handle: () => void): void => {
    if (socket.destroyed) return;
    const run = () => {
      response.once('close', next);
      handle();
    };
    const next = () => {
      const queue = queues.get(socket);
      const following = socket.destroyed ? undefined : queue?.shift();
      if (following) following();
      else queues.delete(socket);
    };
    const queue = queues.get(socket);
    if (!queue) {
      queues.set(socket, []);
      run();
    } else if (queue.length < MAX_WAITING) queue.push(run);
    else socket.destroy();
  };
};
