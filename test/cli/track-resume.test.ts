import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createFakeService, type FakeService } from '../../src/testing/index.ts';
import { aWorkspace, SERVER_KEY } from '../helpers/a-workspace.ts';
import { type HttpServer, serveHandler } from '../helpers/http-server.ts';
import { ended, runCli, serveCli, startCli } from '../helpers/run-cli.ts';

const TIME = '2026-01-01T00:00:00Z';

let folder: string;
const file = (name: string) => join(folder, name);
const text = (name: string) => readFileSync(file(name), 'utf8');
const linesIn = (content: string) =>
  content
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'placard-resume-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('placard track --resume', () => {
  let fake: FakeService;
  let server: HttpServer;
  /** Requests received, and whether each gets a response. */
  let came: number;
  let isAnswered: (request: number) => boolean;
  let wake: () => void;
  let env: Record<string, string>;
  beforeEach(async () => {
    fake = createFakeService();
    came = 0;
    isAnswered = () => true;
    wake = () => undefined;
    server = await serveHandler(async (request) => {
      const response = await fake.handle(request);
      came += 1;
      wake();
      return isAnswered(came) ? response : new Promise<never>(() => undefined);
    });
    env = { PLACARD_ENDPOINT: server.origin, PLACARD_API_KEY: 'server-key' };
  });
  afterEach(() => server.close());

  const words = () => ['track', file('in.ndjson'), '--resume', file('progress'), '--concurrency', '1'];
  /** Starts the command and kills it after this number of requests. */
  const killedAfter = async (requests: number, more: string[] = []) => {
    const child = await startCli([...words(), ...more], env);
    const exit = ended(child);
    while (came < requests) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    child.kill('SIGKILL');
    return exit;
  };
  const names = () => fake.objects.map(({ object }) => object['name'] ?? object['tier']);
  const event = (at: number) =>
    JSON.stringify({ events: { external_id: 'kim', name: `e${at}`, time: TIME } });
  const attributes = (at: number) => JSON.stringify({ attributes: { external_id: 'kim', tier: `t${at}` } });
  const write = (...lines: string[]) => writeFileSync(file('in.ndjson'), `${lines.join('\n')}\n`);
  const many = (count: number, line: (at: number) => string) =>
    Array.from({ length: count }, (_, at) => line(at));

  test('sends remaining objects after a kill, and lists events without a response', async () => {
    write(...many(200, event));
    isAnswered = (request) => request < 2;
    await killedAfter(2);
    isAnswered = () => true;
    const { code, stdout, stderr } = await runCli(words(), env);
    expect(names()).toEqual(many(200, (at) => `e${at}`));
    expect(linesIn(stdout)).toEqual(
      many(75, (at) => `${at + 76}`).map((line) => ({
        line: Number(line),
        array: 'events',
        reason: 'in doubt: no response arrived, it may be stored or not',
      })),
    );
    expect(stderr).toBe(
      '0 attributes, 50 events, 0 purchases accepted in 1 request; 75 objects sent by an earlier run\n' +
        'placard: 75 problems, listed on stdout\n',
    );
    expect(code).toBe(2);
  });

  test('resends attributes without a response, because setting them is idempotent', async () => {
    write(...many(200, attributes));
    isAnswered = (request) => request < 2;
    await killedAfter(2);
    isAnswered = () => true;
    const { code, stdout } = await runCli(words(), env);
    expect([code, stdout]).toEqual([0, '']);
    expect(names().slice(0, 75)).toEqual(many(75, (at) => `t${at}`));
    expect(names().slice(150)).toEqual(many(125, (at) => `t${at + 75}`));
  });

  test('does not resend objects, and continues if the file has grown', async () => {
    write(event(0), event(1));
    await runCli(words(), env);
    expect((await runCli(words(), env)).stderr).toBe(
      '0 attributes, 0 events, 0 purchases accepted in 0 requests; 2 objects sent by an earlier run\n',
    );
    write(event(0), event(1), event(2));
    await runCli(words(), env);
    expect(names()).toEqual(['e0', 'e1', 'e2']);
  });

  test('lists each reject once over all runs, with its object in the file of --rejects', async () => {
    const bad = JSON.stringify({
      events: [{ external_id: 'kim', name: 'good', time: TIME }, { external_id: 'kim' }],
    });
    write('{"event":{}}', bad, ...many(100, event), '{"broken"', bad);
    const rejects = ['--rejects', file('rejects.ndjson')];
    isAnswered = (request) => request < 2;
    await killedAfter(2, rejects);
    isAnswered = () => true;
    const { code, stdout, stderr } = await runCli([...words(), ...rejects], env);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/problems?, listed in .*rejects\.ndjson\n$/);
    const listed = linesIn(text('rejects.ndjson'));
    const rejected = listed.filter(({ reason }) => !reason.startsWith('in doubt'));
    expect(rejected.toSorted((one, other) => one.line - other.line)).toEqual([
      { line: 1, reason: expect.stringContaining('got the member "event"') },
      { line: 2, array: 'events', index: 1, reason: "'name' is required", object: { external_id: 'kim' } },
      { line: 2, array: 'events', index: 1, reason: "'time' is required", object: { external_id: 'kim' } },
      { line: 103, reason: 'a line must be JSON' },
    ]);
    const inDoubt = listed.filter(({ reason }) => reason.startsWith('in doubt'));
    expect(inDoubt.map(({ line }) => line)).toEqual([
      ...many(27, (at) => `${at + 76}`).map(Number),
      104,
      104,
    ]);
    expect(inDoubt[0]).toMatchObject({ array: 'events', object: { name: 'e73' } });
  });

  test('reports that the same command continues, after an interruption or a rejection', async () => {
    write(...many(200, event));
    fake.fail({ type: 'status', status: 403 }, { times: 9, when: ({ count }) => count >= 1 });
    const stopped = await runCli(words(), env);
    expect([stopped.code, stopped.stdout]).toEqual([1, '']);
    expect(stopped.stderr).toMatch(/403.*75 events.* in 1 request; the same command continues from there\n$/);
    fake.recover();
    expect((await runCli(words(), env)).code).toBe(0);
    expect(names()).toEqual(many(200, (at) => `e${at}`));
  });

  test.each([
    [['track', '-', '--resume', 'progress'], '--resume needs a file, not stdin'],
    [['track', '--resume', 'progress'], '--resume needs a file, not stdin'],
    [['track', 'x', '--resume', 'progress', '--dry-run'], '--dry-run sends nothing: leave --resume out'],
  ])('rejects input that it cannot resume: %j', async (given, message) => {
    expect((await runCli(given, env)).stderr).toBe(`placard: ${message}\n`);
    expect(existsSync('progress')).toBe(false);
  });

  test('continues its file of rejects after a run with an invalid key', async () => {
    write(event(1), JSON.stringify({ events: { external_id: 'kim', name: 'e2' } }));
    const more = [...words(), '--rejects', file('rejects')];
    fake.setKeys({ server: 'another-key' });
    expect(await runCli(more, env)).toMatchObject({ code: 1, stderr: expect.stringContaining('401') });
    fake.setKeys({ server: 'server-key' });
    expect(await runCli(more, env)).toMatchObject({ code: 2 });
    expect(names()).toEqual(['e1']);
    expect(linesIn(text('rejects'))).toMatchObject([{ line: 2 }]);
  });

  test('does not overwrite the file of rejects of another run', async () => {
    write(event(0));
    writeFileSync(file('rejects.ndjson'), 'mine\n');
    const { code, stderr } = await runCli([...words(), '--rejects', file('rejects.ndjson')], env);
    expect([code, stderr]).toEqual([
      1,
      `placard: ${file('rejects.ndjson')} already exists; name another file\n`,
    ]);
    expect(text('rejects.ndjson')).toBe('mine\n');
    expect(fake.objects).toEqual([]);
  });
});

test('an import that is killed twice stores each object once, except those listed as in doubt', async () => {
  writeFileSync(file('workspace.json'), JSON.stringify(aWorkspace()));
  const service = await serveCli(['--workspace', file('workspace.json'), '--db', file('db'), '--port', '0']);
  const LINES = 9_000;
  // Every third line sets an attribute, the others are events of 100 users.
  const lines = Array.from({ length: LINES }, (_, at) =>
    JSON.stringify(
      at % 3 === 0
        ? { attributes: { external_id: `u-${at}`, at } }
        : { events: { external_id: `e-${at % 100}`, name: 'step', time: TIME, properties: { at } } },
    ),
  );
  writeFileSync(file('in.ndjson'), `${lines.join('\n')}\n`);
  const words = [
    'track',
    file('in.ndjson'),
    '--resume',
    file('progress'),
    '--rejects',
    file('rejects.ndjson'),
  ];
  const env = { PLACARD_ENDPOINT: service.url, PLACARD_API_KEY: SERVER_KEY };
  const settled = () =>
    existsSync(file('progress')) ? (text('progress').match(/^settled/gm)?.length ?? 0) : 0;
  for (const target of [25, 60]) {
    const child = await startCli(words, env);
    // Listens from the start, because the process may exit before it is killed.
    const exit = once(child, 'exit');
    while (settled() < target) await nextTurn();
    child.kill('SIGKILL');
    await exit;
  }
  const last = await runCli(words, env);
  expect([0, 2]).toContain(last.code);
  expect(last.stderr).toMatch(/sent by an earlier run/);

  const exported = async (kind: string) =>
    linesIn((await runCli(['export', kind, '--db', file('db')])).stdout);
  const events = (await exported('events')).map(({ properties }) => properties.at as number);
  const users = (await exported('users')).flatMap(({ custom_attributes }) => custom_attributes?.at ?? []);
  service.child.kill('SIGTERM');
  await service.exit;
  const inDoubt = new Set(linesIn(text('rejects.ndjson')).map(({ line }) => line - 1));
  expect(new Set(events).size).toBe(events.length);
  const all = Array.from({ length: LINES }, (_, at) => at);
  expect(users.toSorted((a, b) => a - b)).toEqual(all.filter((at) => at % 3 === 0));
  expect(all.filter((at) => at % 3 !== 0 && !events.includes(at) && !inDoubt.has(at))).toEqual([]);
  // Two kills, with four requests in flight at each.
  expect(inDoubt.size).toBeLessThanOrEqual(2 * 4 * 75);
});
