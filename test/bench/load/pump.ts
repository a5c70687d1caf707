import { connect, type Socket } from 'node:net';

export interface PumpResult {
  requests: number;
  seconds: number;
  /** Responses by status. */
  statuses: Record<string, number>;
  /** Milliseconds. */
  p50: number;
  p99: number;
  worst: number;
}

export interface PumpOptions {
  port: number;
  /** Returns the next request as bytes. */
  next: () => Buffer;
  connections: number;
  seconds: number;
  /** Seconds of warm-up, which are not counted. */
  warmUpSeconds?: number;
  /** Maximum requests per second. Default: unlimited. */
  rate?: number;
}

const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * Sends requests over a few connections, one at a time on each, and reads only status and length of the responses, to
 * leave the shared cores to the server.
 */
export const pump = async (options: PumpOptions): Promise<PumpResult> => {
  const { port, next, connections, seconds, warmUpSeconds = 1, rate } = options;
  const begin = performance.now() + warmUpSeconds * 1000;
  const end = begin + seconds * 1000;
  const statuses: Record<string, number> = {};
  const latencies: number[] = [];
  let lastAnswer = begin;

  const run = (socket: Socket) =>
    new Promise<void>((resolve, reject) => {
      let sentAt = 0;
      let pending: Buffer | null = null;
      const send = () => {
        sentAt = performance.now();
        socket.write(next());
      };
      const done = (status: string) => {
        const now = performance.now();
        if (now >= begin && now <= end) {
          latencies.push(now - sentAt);
          statuses[status] = (statuses[status] ?? 0) + 1;
          lastAnswer = now;
        }
        if (now >= end) {
          socket.end();
          resolve();
        } else if (rate === undefined) send();
        else setTimeout(send, Math.max(0, sentAt + (connections * 1000) / rate - now));
      };
      socket.on('data', (chunk: Buffer) => {
        const bytes: Buffer = pending ? Buffer.concat([pending, chunk]) : chunk;
        const headEnd = bytes.indexOf(HEAD_END);
        const head = headEnd < 0 ? '' : bytes.toString('latin1', 0, headEnd);
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
        if (headEnd < 0 || bytes.length < headEnd + 4 + length) {
          pending = bytes;
          return;
        }
        pending = null;
        done(head.slice(9, 12));
      });
      socket.once('error', reject);
      socket.once('close', () => resolve());
      send();
    });

  const sockets = await Promise.all(
    Array.from(
      { length: connections },
      () =>
        new Promise<Socket>((resolve, reject) => {
          const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket));
          socket.once('error', reject);
        }),
    ),
  );
  await Promise.all(sockets.map(run));
  latencies.sort((a, b) => a - b);
  const at = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return {
    requests: latencies.length,
    seconds: (lastAnswer - begin) / 1000,
    statuses,
    p50: at(0.5),
    p99: at(0.99),
    worst: latencies.at(-1) ?? 0,
  };
};
