import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createFakeService, type FakeService } from '../../src/testing/index.ts';
import { freePort } from '../helpers/free-port.ts';
import { type HttpServer, serveHandler } from '../helpers/http-server.ts';
import { runCli } from '../helpers/run-cli.ts';

const TIME = '2026-01-01T00:00:00Z';

let fake: FakeService;
let server: HttpServer;
let folder: string;
const file = (name: string) => join(folder, name);
beforeEach(async () => {
  fake = createFakeService();
  server = await serveHandler(fake.handle);
  folder = mkdtempSync(join(tmpdir(), 'placard-input-'));
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

const track = async (words: string[], env: Record<string, string> = {}) => {
  const { stdout, ...rest } = await runCli(['track', ...words], {
    PLACARD_ENDPOINT: server.origin,
    PLACARD_API_KEY: 'server-key',
    ...env,
  });
  return {
    ...rest,
    lines: stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
  };
};
const write = (name: string, ...lines: string[]) => {
  writeFileSync(file(name), `${lines.join('\n')}\n`);
  return file(name);
};

describe('placard track', () => {
  test('reports that nothing was accepted, without a list of lines, if the key is invalid', async () => {
    const input = write('in.ndjson', ...Array(400).fill('{"attributes":{"external_id":"kim"}}'));
    expect(await track([input], { PLACARD_API_KEY: 'wrong' })).toMatchObject({
      code: 1,
      lines: [],
      stderr: 'placard: POST /users/track returned 401: Invalid API key; nothing was accepted\n',
    });
  });

  test('reports an invalid object by its index if a line has several', async () => {
    const good = { external_id: 'kim', name: 'a', time: TIME };
    const input = write(
      'in.ndjson',
      JSON.stringify({ attributes: [{ tier: 'gold' }], events: [good, { ...good, name: 5 }] }),
    );
    const { code, lines } = await track([input]);
    expect(code).toBe(2);
    expect(lines).toEqual([
      { line: 1, array: 'attributes', index: 0, reason: expect.stringMatching(/is required$/) },
      { line: 1, array: 'events', index: 1, reason: "'name' is not valid" },
    ]);
  });

  test('reads a CSV, and reports an invalid row by its line', async () => {
    const input = write('users.csv', 'external_id,tier,visits:number', 'kim,gold,3', 'jo,,many', ',silver,1');
    const { code, lines, stderr } = await track([input, '--as', 'attributes']);
    expect(fake.objects.map(({ object }) => object)).toEqual([
      { external_id: 'kim', tier: 'gold', visits: 3 },
    ]);
    expect(lines).toEqual([
      { line: 3, array: 'attributes', reason: 'the column "visits:number" expects a number' },
      { line: 4, array: 'attributes', reason: expect.stringMatching(/is required$/) },
    ]);
    expect(stderr).toContain('1 attribute, 0 events, 0 purchases accepted in 1 request\n');
    expect(code).toBe(2);
  });

  test.each([
    [
      'a CSV without the type of its rows',
      ['users.csv'],
      /users\.csv is a CSV: set the type of its rows with --as/,
    ],
    [
      'a CSV with another file extension',
      ['users.txt'],
      /line 1 is not NDJSON: .*--as attributes, events or purchases\n$/,
    ],
    [
      'an unknown type of rows',
      ['users.csv', '--as', 'users'],
      /--as must be attributes, events, purchases, got "users"/,
    ],
    [
      'a delimiter of two characters',
      ['users.csv', '--as', 'events', '--delimiter', '::'],
      /--delimiter must be one/,
    ],
    ['a folder', ['folder'], /folder is a folder; name a file\n$/],
    ['a missing file', ['nowhere'], /nowhere does not exist\n$/],
  ])('reports %s in one sentence without sending requests', async (_, [name, ...words], message) => {
    write('users.csv', 'external_id', 'kim');
    write('users.txt', 'external_id', 'kim');
    mkdirSync(file('folder'));
    const { code, stderr, lines } = await track([file(name!), ...words]);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect([code, lines, fake.requests]).toEqual([1, [], []]);
  });

  test('reports the reason for retries, and that nothing was accepted after the last one', async () => {
    const endpoint = `http://127.0.0.1:${await freePort()}`;
    // Shortest possible retry delays.
    vi.spyOn(Math, 'random').mockReturnValue(0);
    onTestFinished(() => void vi.restoreAllMocks());
    const input = write('in.ndjson', '{"attributes":{"external_id":"kim"}}');
    const { code, stderr } = await track([input, '--endpoint', endpoint]);
    const sentence = `placard: POST /users/track was not sent: no connection to ${endpoint} (ECONNREFUSED)`;
    const said = stderr.trimEnd().split('\n');
    expect(said[0]).toMatch(/; retrying in 1 s$/);
    expect(said.every((each) => each.startsWith(sentence))).toBe(true);
    expect(said.at(-1)).toBe(`${sentence}; nothing was accepted`);
    expect(code).toBe(1);
  });
});

describe('placard track --dry-run', () => {
  test('validates objects by the rules of the service, without a key or requests', async () => {
    const event = { external_id: 'kim', name: 'a', time: TIME };
    const input = write(
      'in.ndjson',
      JSON.stringify({ attributes: { external_id: 'kim', gender: 'robot', tier: 'gold' } }),
      JSON.stringify({ events: [event, { ...event, time: 'yesterday' }] }),
      JSON.stringify({
        purchases: { external_id: 'kim', product_id: 'p', currency: 'XYZ', price: 1, time: TIME },
      }),
      '{"event":{}}',
    );
    const { code, lines, stderr } = await track([input, '--dry-run'], {
      PLACARD_ENDPOINT: '',
      PLACARD_API_KEY: '',
    });
    expect(lines).toEqual([
      { line: 4, reason: expect.stringContaining('got the member "event"') },
      { line: 1, array: 'attributes', reason: "'gender' is not valid" },
      { line: 2, array: 'events', index: 1, reason: "'time' is not valid" },
      { line: 3, array: 'purchases', reason: "'currency' is not valid" },
    ]);
    expect(stderr).toBe(
      '1 attribute, 1 event, 0 purchases would be accepted in 1 request\nplacard: 4 problems, listed on stdout\n',
    );
    expect([code, fake.requests]).toEqual([2, []]);
  });

  test('accepts any app and subscription group, because only the workspace defines them', async () => {
    const input = write(
      'in.ndjson',
      JSON.stringify({
        attributes: {
          external_id: 'kim',
          subscription_groups: [{ subscription_group_id: 'any', subscription_state: 'subscribed' }],
          push_tokens: [{ app_id: 'any', token: 'a-token' }],
        },
      }),
    );
    expect(await track([input, '--dry-run'])).toMatchObject({ code: 0, lines: [] });
  });

  test('writes rejects with their objects to the file of --rejects', async () => {
    const input = write('in.ndjson', '{"events":{"external_id":"kim","name":"a"}}');
    const rejects = file('rejects.ndjson');
    const { code, lines } = await track([input, '--dry-run', '--rejects', rejects]);
    expect([code, lines]).toEqual([2, []]);
    expect(JSON.parse(readFileSync(rejects, 'utf8'))).toEqual({
      line: 1,
      array: 'events',
      reason: "'time' is required",
      object: { external_id: 'kim', name: 'a' },
    });
  });
});
