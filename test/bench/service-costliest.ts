// The most expensive request that we have found for each endpoint and role, within the limits: how long the main thread
// works on it, and how long /healthz waits meanwhile. The load's own work is in another process.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { request as send } from 'node:http';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { costliestRequests } from './load/costliest-requests.ts';
import { median, ms } from './load/figures.ts';
import type { Bench, Row } from './row.ts';

const ROUNDS = Number(process.env['PLACARD_BENCH_ROUNDS'] ?? 3);

interface Ports {
  api: number;
  studio: number;
  /** Of a `view` operator, for the Studio. */
  cookie: string;
  bannerId: string;
}

const ask = (port: number, path: string, method: string, headers: Record<string, string>, body?: Buffer) =>
  new Promise<number>((resolve, reject) => {
    const sent = send({ port, host: '127.0.0.1', path, method, headers, agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', reject);
    sent.end(body);
  });

/** Asks /healthz again and again, and resolves with the longest wait once `until` has settled. */
const longestWait = async (port: number, until: Promise<unknown>): Promise<number> => {
  let isOver = false;
  until.finally(() => {
    isOver = true;
  });
  let longest = 0;
  while (!isOver) {
    const started = performance.now();
    await ask(port, '/healthz', 'GET', {});
    longest = Math.max(longest, performance.now() - started);
  }
  return longest;
};

const run = async (): Promise<Row[]> => {
  const child = fork(fileURLToPath(new URL('./load/costliest-process.ts', import.meta.url)), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  try {
    const [ports] = (await once(child, 'message')) as [Ports];
    const cpuMs = async (): Promise<number> => {
      child.send('cpu');
      const [used] = (await once(child, 'message')) as [number];
      return used;
    };
    const rows: Row[] = [];
    for (const { what, role, path, method = 'POST', body, aimMs } of costliestRequests(ports.bannerId)) {
      const isStudio = path.startsWith('/api/');
      const port = isStudio ? ports.studio : ports.api;
      const zipped = body === undefined ? undefined : gzipSync(JSON.stringify(body));
      const plain = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
      const headers: Record<string, string> = isStudio
        ? { cookie: ports.cookie, origin: `http://127.0.0.1:${ports.studio}` }
        : { authorization: `Bearer bench-${role}` };
      if (body !== undefined) headers['content-type'] = 'application/json';
      if (body !== undefined && !isStudio) headers['content-encoding'] = 'gzip';
      const busy: number[] = [];
      const waits: number[] = [];
      let status = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        const before = await cpuMs();
        status = await ask(port, path, method, headers, isStudio ? plain : zipped);
        busy.push((await cpuMs()) - before);
        waits.push(await longestWait(ports.api, ask(port, path, method, headers, isStudio ? plain : zipped)));
      }
      rows.push({
        what: `${role}: ${what} (${status})`,
        figure: ms(median(busy)),
        floor: `/healthz ${ms(median(waits))}`,
        target: `≤ ${aimMs} ms`,
      });
    }
    return rows;
  } finally {
    child.kill();
  }
};

export const benches: Bench[] = [{ name: 'service-costliest', run }];
