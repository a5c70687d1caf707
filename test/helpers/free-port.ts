import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the range from which systems give ports to new connections: another test's socket cannot take it meanwhile. */
const FIRST = 10_000;
const LAST = 32_000;

/** A loopback port that nobody listens on, for a program that cannot be told to choose one itself. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
};
