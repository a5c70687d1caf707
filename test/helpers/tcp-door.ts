import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/**
 * A door in front of a server that can fall silent: whoever is connected then stays so, and nothing passes either way any
 * more. Whoever comes later is let through.
 */
export const tcpDoor = async (url: string) => {
  const { hostname, port } = new URL(url);
  const inside = new Set<Socket>();
  const server = createServer((caller) => {
    const called = connect(Number(port), hostname);
    caller.pipe(called).pipe(caller);
    inside.add(caller);
    for (const socket of [caller, called]) socket.on('error', () => undefined);
    caller.once('close', () => {
      inside.delete(caller);
      called.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const caller of inside) caller.destroy();
  });
  const through = new URL(url);
  through.port = String((server.address() as AddressInfo).port);
  return {
    url: through.href,
    /** How many are connected. */
    count: () => inside.size,
    silence() {
      for (const caller of inside) {
        caller.unpipe();
        // It is read, so that its end is heard.
        caller.resume();
      }
    },
  };
};
