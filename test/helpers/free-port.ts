import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ephemeral port range, so that no outgoing connection takes the port in between. */
const FIRST = 10_000;
const LAST = 32_000;

/** Returns a free loopback port, for programs that cannot choose one themselves. */
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
