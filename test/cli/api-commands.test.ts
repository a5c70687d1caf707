import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeService, type FakeService } from '../../src/testing/index.ts';
import { type HttpServer, serveHandler } from '../helpers/http-server.ts';
import { ended, startCli } from '../helpers/run-cli.ts';

const TIME = '2026-01-01T00:00:00Z';

describe('commands that call the API', () => {
  let fake: FakeService;
  let server: HttpServer;
  let folder: string;

  beforeEach(async () => {
    fake = createFakeService({
      integrations: Array.from({ length: 12 }, (_, at) => ({
        integration_id: `i-${at}`,
        app_group_id: 'g',
        integration_name: `n-${at}`,
        integration_type: 'users',
        integration_status: 'active',
        contact_emails: '',
        last_updated_at: TIME,
        warehouse_type: 'snowflake',
        last_job_start_time: '',
        last_job_status: '',
        next_scheduled_run: '',
      })),
    });
    server = await serveHandler(fake.handle);
    folder = await mkdtemp(join(tmpdir(), 'placard-cli-'));
  });
  afterEach(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  const placard = async (
    words: string[],
    { input = '' as string | Buffer, env = {} as Record<string, string> } = {},
  ) => {
    const child = await startCli(words, {
      PLACARD_ENDPOINT: server.origin,
      PLACARD_API_KEY: 'server-key',
      ...env,
    });
    child.stdin!.end(input);
    const { stdout, stderr, code } = await ended(child);
    return {
      code,
      stderr,
      lines: stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    };
  };

  it('print each integration as a line of JSON', async () => {
    const { code, lines } = await placard(['integrations']);
    expect(code).toBe(0);
    expect(lines.map(({ integration_id }) => integration_id)).toEqual(
      Array.from({ length: 12 }, (_, at) => `i-${at}`),
    );
  });

  it('send the lines of a file, as objects or as whole bodies', async () => {
    const file = join(folder, 'in.ndjson');
    const lines = [
      { attributes: { external_id: 'kim', tier: 'gold' } },
      {
        events: [
          { external_id: 'kim', name: 'a', time: TIME },
          { external_id: 'kim', name: 'b', time: TIME },
        ],
      },
      { purchases: { external_id: 'kim', product_id: 'p', currency: 'EUR', price: 1, time: TIME } },
    ];
    // With the byte order mark that some editors write.
    await writeFile(file, `\uFEFF${lines.map((line) => JSON.stringify(line)).join('\r\n\n')}\n`);
    const { code, stderr, lines: problems } = await placard(['track', file]);
    expect([code, problems]).toEqual([0, []]);
    expect(stderr).toBe('1 attribute, 2 events, 1 purchase accepted in 1 request\n');
    expect(fake.objects.map(({ array }) => array)).toEqual(['attributes', 'events', 'events', 'purchases']);
  });

  it('report an invalid key without quoting it or sending a request', async () => {
    const env = { PLACARD_API_KEY: 'ключ' };
    const input = '{"attributes":{"external_id":"kim"}}';
    const tracked = await placard(['track'], { input, env });
    expect(tracked.code).toBe(1);
    expect(tracked.lines).toEqual([]);
    expect(tracked.stderr).toBe(
      'placard: apiKey holds characters that a header cannot carry; nothing was accepted\n',
    );
    const listed = await placard(['integrations'], { env });
    expect(listed.stderr).toBe('placard: apiKey holds characters that a header cannot carry\n');
    expect(tracked.stderr + listed.stderr).not.toContain('ключ');
    expect(fake.objects).toEqual([]);
  });

  it('report each problem by its line, and fail', async () => {
    const input = [
      '{"events":{"external_id":"kim","name":"a","time":"2026-01-01T00:00:00Z"}}',
      'not json',
      '{"event":{}}',
      '{"events":{"external_id":"kim","time":"2026-01-01T00:00:00Z"}}',
    ].join('\n');
    const { code, stderr, lines } = await placard(['track'], { input });
    expect(code).toBe(2);
    expect(lines.map(({ line }) => line)).toEqual([2, 3, 4]);
    // Not the platform's message, because it quotes the line, which is user data.
    expect(lines[0]).toEqual({ line: 2, reason: 'a line must be JSON' });
    expect(lines[1]).toEqual({
      line: 3,
      reason: 'a line must be {"attributes": …}, {"events": …} or {"purchases": …}, got the member "event"',
    });
    expect(lines[2]).toEqual({ line: 4, array: 'events', reason: "'name' is required" });
    expect(stderr).toContain('placard: 3 problems, listed on stdout\n');
    expect(fake.objects).toHaveLength(1);
  });

  it('reject a line with invalid UTF-8, because it could merge two names', async () => {
    const kim = (name: string) => `{"attributes":{"external_id":"kim","first_name":"${name}"}}\n`;
    const input = Buffer.concat([
      Buffer.from(`\ufeff${kim('Jürgen')}`),
      Buffer.from(kim('J\xf6rg'), 'latin1'),
      Buffer.from(kim('J\xe4rg'), 'latin1'),
      Buffer.from(kim('Jörg')),
      Buffer.from(kim('Jo'), 'utf16le'),
    ]);
    const { code, lines } = await placard(['track'], { input });
    expect(code).toBe(2);
    expect(lines.slice(0, 2)).toEqual([
      { line: 2, reason: 'a line must be UTF-8' },
      { line: 3, reason: 'a line must be UTF-8' },
    ]);
    expect(lines.slice(2).map(({ line }) => line)).toEqual([5, 6]);
    expect(fake.objects.map(({ object }) => object['first_name'])).toEqual(['Jürgen', 'Jörg']);
  });

  it('reject a second file', async () => {
    const files = ['one', 'two'].map((name) => join(folder, name));
    for (const file of files) await writeFile(file, '{"attributes":{"external_id":"kim"}}');
    const { code, stderr } = await placard(['track', ...files]);
    expect([code, stderr]).toEqual([1, `placard: "${files[1]}" is an unexpected argument\n`]);
    expect(fake.objects).toEqual([]);
  });

  it('split lines at line feeds only: JSON may contain other Unicode separators', async () => {
    const name = 'one\u2028two\u2029three';
    const events = { external_id: 'kim', name, time: TIME };
    const { code, lines } = await placard(['track'], { input: `${JSON.stringify({ events })}\nnot json` });
    expect(code).toBe(2);
    expect(lines.map(({ line }) => line)).toEqual([2]);
    expect(fake.objects.map(({ object }) => object)).toEqual([events]);
  });

  it('print the line to continue from after a stop', async () => {
    const event = (at: number) => `{"events":{"external_id":"kim","name":"e${at}","time":"${TIME}"}}`;
    const input = Array.from({ length: 200 }, (_, at) => event(at)).join('\n');
    fake.fail({ type: 'status', status: 403 }, { times: 9, when: ({ count }) => count >= 1 });
    const { code, stderr, lines } = await placard(['track', '-', '--concurrency', '1'], { input });
    expect(code).toBe(1);
    expect(stderr).toMatch(/returned 403.*75 events.*nothing after line 200 was sent/);
    expect(lines.map(({ line }) => line)).toEqual(Array.from({ length: 125 }, (_, at) => 76 + at));
    expect(fake.objects).toHaveLength(75);
  });

  it('print the object to continue from if a request ended within a line', async () => {
    const events = Array.from({ length: 100 }, (_, at) => ({
      external_id: 'kim',
      name: `e${at}`,
      time: TIME,
    }));
    const line = `${JSON.stringify({ attributes: { external_id: 'kim' }, events })}\n`;
    fake.fail({ type: 'status', status: 403 }, { times: 9, when: ({ count }) => count >= 1 });
    const { stderr, lines } = await placard(['track'], { input: line.repeat(3) });
    const [, object = '', last = ''] = /nothing after object (\d+) of line (\d+) was sent/.exec(stderr) ?? [];
    // All objects before that one were accepted or are listed, so resuming after it skips nothing.
    expect(fake.objects.length + lines.length).toBe((Number(last) - 1) * 101 + Number(object));
  });

  it('read the key from the file in PLACARD_API_KEY_FILE', async () => {
    const file = join(folder, 'key');
    const list = (env: Record<string, string>) => placard(['integrations'], { env });
    const env = { PLACARD_API_KEY: '', PLACARD_API_KEY_FILE: file };
    expect(await list(env)).toMatchObject({
      code: 1,
      stderr: `placard: ${file}, which PLACARD_API_KEY_FILE names, cannot be read (ENOENT)\n`,
    });
    await writeFile(file, 'wrong\n');
    expect((await list(env)).stderr).toContain('401');
    await writeFile(file, 'server-key\n');
    expect(await list(env)).toMatchObject({ code: 0, stderr: '' });
    expect((await list({ PLACARD_API_KEY_FILE: file })).stderr).toContain('keep one of them');
  });

  it('report missing and invalid input in one sentence', async () => {
    const say = async (words: string[], env: Record<string, string> = {}) =>
      (await placard(words, { env })).stderr;
    expect(await say(['integrations'], { PLACARD_API_KEY: '' })).toBe(
      'placard: missing server key: set PLACARD_API_KEY or --key\n',
    );
    expect(await say(['integrations'], { PLACARD_ENDPOINT: '' })).toBe(
      'placard: no API address: set --endpoint (http://127.0.0.1:8787), --instance or PLACARD_ENDPOINT\n',
    );
    expect(await say(['integrations', '--instance', 'US-09'])).toContain("'US-09' is not one of US-01");
    expect(await say(['integrations', '--endpont=x'])).toContain('unknown option --endpont');
    expect(await say(['track', join(folder, 'none')])).toBe(
      `placard: ${join(folder, 'none')} does not exist\n`,
    );
    expect(await say(['integrations', '--key', 'wrong'])).toBe(
      'placard: GET /cdi/integrations returned 401: Invalid API key\n',
    );
  });
});
