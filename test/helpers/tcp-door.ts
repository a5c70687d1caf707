import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/**
 * Starts a proxy of a server that can stop passing data in both directions while connections stay open. Later connections work.
 * It can also hold back responses, and later connections.
 */
export const tcpDoor = async (url: string) => {
  const { hostname, port } = new URL(url);
  const inside = new Set<Socket>();
  let room = Number.POSITIVE_INFINITY;
  let fatal: string | null = null;
  const server = createServer((caller) => {
    inside.add(caller);
    if (inside.size > room) {
      caller.on('error', () => undefined);
      caller.once('close', () => inside.delete(caller));
      caller.resume();
      return;
    }
    const called = connect(Number(port), hostname);
    called.on('data', (answer: Buffer) => {
      if (fatal === null || !answer.includes(fatal)) return;
      fatal = null;
      called.unpipe();
      caller.destroy();
    });
    caller.pipe(called).pipe(caller);
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
    /** From now on no more than this many get through; the others hear nothing, as behind a pooler that has no room. */
    letIn(max: number) {
      room = max;
    },
    /** Cuts the connection instead of passing on the next response with this text. */
    cutAnswer(text: string) {
      fatal = text;
    },
    hasCut: () => fatal === null,
    silence() {
      for (const caller of inside) {
        caller.unpipe();
        // It is read, so that its end is heard.
        caller.resume();
      }
    },
  };
};
