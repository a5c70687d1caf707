import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Maximum number of requests that wait on one connection. Browsers and proxies do not pipeline. */
const MAX_WAITING = 64;

/**
 * Handles the requests of a connection one at a time: the next starts once the response has left the process. Node would handle
 * all pipelined requests at once, so a client that reads no response would make it buffer all of them.
 */
export const createRequestQueue = () => {
  const queues = new WeakMap<Socket, { isBusy: boolean; waiting: (() => void)[] }>();

  return ({ socket }: IncomingMessage, response: ServerResponse, handle: () => void): void => {
    if (socket.destroyed) return;
    // One entry for the life of a connection, because adding and removing one for each request would cost more.
    let queue = queues.get(socket);
    if (!queue) {
      queue = { isBusy: false, waiting: [] };
      queues.set(socket, queue);
    }
    const next = () => {
      const following = socket.destroyed ? undefined : queue.waiting.shift();
      if (following) following();
      else queue.isBusy = false;
    };
    const run = () => {
      queue.isBusy = true;
      response.once('close', next);
      handle();
    };
    if (!queue.isBusy) run();
    else if (queue.waiting.length < MAX_WAITING) queue.waiting.push(run);
    else socket.destroy();
  };
};
