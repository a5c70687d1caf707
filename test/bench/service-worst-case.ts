// The most expensive known request for each endpoint and role, within the limits: CPU time of the main thread, and the
// latency of /healthz in the meantime, both converted to the reference speed. The load generator runs in another process.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { request as send } from 'node:http';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { median, ms } from './load/figures.ts';
import { toReferenceSpeed } from './load/reference-speed.ts';
import { ofClientKeys } from './load/worst-case/client-keys.ts';
import { ofNobody, ofOperators } from './load/worst-case/operators.ts';
import type { CostlyRequest, Known, Sender } from './load/worst-case/request.ts';
import { ofServerKeys } from './load/worst-case/server-keys.ts';
import type { Bench, Row } from './row.ts';

const ROUNDS = Number(process.env['PLACARD_BENCH_ROUNDS'] ?? 3);
/** Measures only requests whose name contains this. */
const ONLY = process.env['PLACARD_BENCH_ONLY'] ?? '';

interface Ports {
  api: number;
  studio: number;
  cookies: Partial<Record<Sender, string>>;
  known: Known;
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

/** Polls /healthz until `until` settles; resolves with the longest latency in milliseconds. */
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

const createSender = ({ api, studio, cookies }: Ports) => {
  let n = 0;
  return (request: CostlyRequest): Promise<number> => {
    const { sender, workspace = 'bench', method = 'POST', ifMatch } = request;
    const path = typeof request.path === 'string' ? request.path : request.path(n);
    const content = request.getBody ? request.getBody(n) : request.body;
    n += 1;
    const isStudio = path.startsWith('/api/');
    const headers: Record<string, string> = {};
    if (isStudio) headers['origin'] = `http://127.0.0.1:${studio}`;
    else if (sender !== 'nobody') headers['authorization'] = `Bearer ${workspace}-${sender}`;
    const cookie = cookies[sender];
    if (cookie !== undefined) headers['cookie'] = cookie;
    if (ifMatch !== undefined) headers['if-match'] = ifMatch;
    if (content === undefined) return ask(isStudio ? studio : api, path, method, headers);
    headers['content-type'] = 'application/json';
    const plain = Buffer.from(JSON.stringify(content));
    if (isStudio) return ask(studio, path, method, headers, plain);
    headers['content-encoding'] = 'gzip';
    return ask(api, path, method, headers, gzipSync(plain));
  };
};

/** Returns the target with its verdict. */
const getTarget = ({ aimMs, waitAimMs }: CostlyRequest, busyMs: number, waitMs: number): string => {
  const judge = (target: string, isMet: boolean) => `${target}: ${isMet ? 'met' : 'MISSED'}`;
  if (aimMs !== null) return judge(`≤ ${aimMs} ms`, busyMs <= aimMs);
  return waitAimMs === undefined ? '' : judge(`/healthz ≤ ${waitAimMs} ms`, waitMs <= waitAimMs);
};

const run = async (): Promise<Row[]> => {
  const child = fork(fileURLToPath(new URL('./load/worst-case/service-process.ts', import.meta.url)), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  try {
    const ended = once(child, 'exit').then(() => {
      throw new Error('The process of the service has ended');
    });
    const [ports] = (await Promise.race([once(child, 'message'), ended])) as [Ports];
    const query = async (question: 'cpu' | 'reference'): Promise<number> => {
      child.send(question);
      const [answer] = (await once(child, 'message')) as [number];
      return answer;
    };
    const rows: Row[] = [];
    const requests = [
      ...ofNobody(),
      ...ofClientKeys(ports.known),
      ...ofServerKeys(),
      ...ofOperators(),
    ].filter(({ what }) => what.includes(ONLY));
    for (const request of requests) {
      const sendNext = createSender(ports);
      const busy: number[] = [];
      const waits: number[] = [];
      const references: number[] = [];
      let status = 0;
      for (let round = 0; round < (request.rounds ?? ROUNDS); round += 1) {
        references.push(await query('reference'));
        const before = await query('cpu');
        status = await sendNext(request);
        busy.push((await query('cpu')) - before);
        references.push(await query('reference'));
        waits.push(await longestWait(ports.api, sendNext(request)));
      }
      const busyMs = toReferenceSpeed(median(busy), references);
      const waitMs = toReferenceSpeed(median(waits), references);
      rows.push({
        what: `${request.sender}: ${request.what} (${status})`,
        figure: `${ms(busyMs)} (measured ${ms(median(busy))})`,
        floor: `/healthz ${ms(waitMs)}`,
        target: getTarget(request, busyMs, waitMs),
      });
    }
    return rows;
  } finally {
    child.kill();
  }
};

export const benches: Bench[] = [{ name: 'service-worst-case', run }];
