// Latency of other clients while one client sends abusive load.
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { getSpread, median, ms, times } from './load/figures.ts';
import { fillWithUsers } from './load/fill.ts';
import { load, type RunningServer, startServer } from './load/processes.ts';
import { inFolder, order, ROUNDS, service } from './load/track-rate.ts';
import { BENCH_KEY } from './load/workspace.ts';
import type { Bench, Row } from './row.ts';

/** Requests per second whose latency is measured: a tenth of the capacity. */
const WATCHED_RATE = 200;

/** Sends 4 MB bodies, each `pauseMs` after the previous response. */
const sendHugeBodies = (server: RunningServer, pauseMs: number) => {
  const text = 'x'.repeat(200);
  const attributes = Array.from({ length: 40 }, (_, i) => ({
    external_id: `big-${i}`,
    list: Array.from({ length: 400 }, (_, j) => `${j}${text}`),
  }));
  const body = JSON.stringify({ attributes });
  const over = new AbortController();
  const sending = (async () => {
    while (!over.signal.aborted) {
      const response = await fetch(`http://127.0.0.1:${server.port}/users/track`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${BENCH_KEY}`, 'Content-Type': 'application/json' },
        body,
      });
      await response.arrayBuffer();
      await pause(pauseMs, undefined, { signal: over.signal }).catch(() => undefined);
    }
  })();
  return async () => {
    over.abort();
    await sending;
  };
};

const nuisances: {
  name: string;
  target: string;
  begin(server: RunningServer, file: string): () => Promise<void> | void;
}[] = [
  {
    name: 'fifty clients that send a byte a second',
    target: '≤ 3 ×',
    begin: (server) => {
      const sockets = Array.from({ length: 50 }, () => connect({ port: server.port, host: '127.0.0.1' }));
      for (const socket of sockets) {
        socket.on('error', () => undefined);
        socket.write(`POST /users/track HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${BENCH_KEY}\r\n`);
      }
      const timer = setInterval(() => {
        for (const socket of sockets) socket.write('x');
      }, 1_000);
      return () => {
        clearInterval(timer);
        for (const socket of sockets) socket.destroy();
      };
    },
  },
  {
    name: 'a body of 4 MB a second',
    target: '≤ 3 ×',
    begin: (server) => sendHugeBodies(server, 1_000),
  },
  {
    name: 'bodies of 4 MB without a pause',
    target: '',
    begin: (server) => sendHugeBodies(server, 0),
  },
  {
    name: 'an export of every user, again and again',
    target: '≤ 3 ×',
    begin: (_server, file) => {
      let child = startExport(file);
      let isOver = false;
      const again = () => {
        if (isOver) return;
        child = startExport(file);
        child.then(({ process }) => process.once('exit', again));
      };
      child.then(({ process }) => process.once('exit', again));
      return async () => {
        isOver = true;
        const { process } = await child;
        if (process.exitCode !== null) return;
        process.kill('SIGTERM');
        await once(process, 'exit');
      };
    },
  },
];

const startExport = (file: string) => startServer('./export-process.ts', [file]);

const fairness = (): Promise<Row[]> =>
  inFolder(async (folder) => {
    const file = join(folder, 'fair.db');
    await fillWithUsers(file, 200_000);
    const server = await service(file);
    const watch = async () => {
      const { p99 } = await load(order(server, { rate: WATCHED_RATE, connections: 8, warmUpSeconds: 2 }));
      return p99;
    };
    await watch();
    const rows: Row[] = [];
    for (const { name, target, begin } of nuisances) {
      const alone: number[] = [];
      const beside: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        alone.push(await watch());
        const end = begin(server, file);
        beside.push(await watch());
        await end();
      }
      rows.push({
        what: `p99 of others beside ${name}`,
        figure: ms(median(beside)),
        floor: `${ms(median(alone))} alone`,
        ratio: times(median(beside) / median(alone)),
        spread: `${getSpread(beside)} / ${getSpread(alone)} ms`,
        target,
      });
    }
    await server.stop();
    return rows;
  });

export const benches: Bench[] = [{ name: 'service-fairness', run: fairness }];
