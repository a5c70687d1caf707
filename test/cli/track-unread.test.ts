import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createFakeService, type FakeService } from '../../src/testing/index.ts';
import { type HttpServer, serveHandler } from '../helpers/http-server.ts';
import { needs } from '../helpers/machine.ts';
import { ended, inherited, startCli } from '../helpers/run-cli.ts';

const event = (at: number) =>
  `{"events":{"external_id":"u-${at}","name":"e","time":"2026-01-01T00:00:00Z"}}\n`;
const events = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => event(from + at)).join('');
const TAKEN = '0 attributes, 300 events, 0 purchases accepted in 4 requests\n';

describe('placard track without a reader of stdout', () => {
  let fake: FakeService;
  let server: HttpServer;
  let env: Record<string, string>;

  beforeEach(async () => {
    fake = createFakeService();
    server = await serveHandler(fake.handle);
    env = { PLACARD_ENDPOINT: server.origin, PLACARD_API_KEY: 'server-key' };
  });
  afterEach(() => server.close());

  /** Starts the command with a reader of its error list that exits after the first error. */
  const startUnread = async () => {
    const child = await startCli(['track'], env);
    const exit = ended(child);
    child.stdin!.write('{not json\n');
    await once(child.stdout!, 'data');
    child.stdout!.destroy();
    await once(child.stdout!, 'close');
    return { child, exit };
  };

  test('sends everything and reports it on stderr if the reader closes the pipe', async () => {
    const { child, exit } = await startUnread();
    child.stdin!.end(`${events(0, 150)}not json\nnor this\n${events(150, 300)}`);
    const { code, stderr } = await exit;
    expect(stderr).toBe(
      `${TAKEN}placard: 3 problems, of which 2 could not be listed on stdout: write EPIPE\n`,
    );
    expect(code).toBe(1);
    expect(fake.objects).toHaveLength(300);
  });

  test('reports the result on stderr if it stops early', async () => {
    const { child, exit } = await startUnread();
    fake.fail({ type: 'status', status: 403 }, { times: 9 });
    child.stdin!.end(`{not json\n${events(0, 1)}`);
    const { code, stderr } = await exit;
    expect(stderr).toMatch(/returned 403.*; nothing was accepted; 1 line could not be listed on stdout: /);
    expect(code).toBe(1);
  });

  test(
    'sends everything and reports the result if the disk is full',
    needs('/dev/full, which Linux has', existsSync('/dev/full')),
    async () => {
      const child = spawn(process.execPath, ['src/cli/placard.ts', 'track'], {
        env: { ...inherited(), ...env },
        stdio: ['pipe', openSync('/dev/full', 'w'), 'pipe'],
      });
      const exit = ended(child);
      child.stdin!.end(`{not json\n${events(0, 300)}`);
      const { code, stderr } = await exit;
      expect(stderr).toContain(
        `${TAKEN}placard: 1 problem, of which 1 could not be listed on stdout: ENOSPC`,
      );
      expect(code).toBe(1);
      expect(fake.objects).toHaveLength(300);
    },
  );

  test('sends everything, and then fails without a reader of stderr', async () => {
    const child = await startCli(['track'], env);
    const exit = ended(child);
    child.stderr!.destroy();
    await once(child.stderr!, 'close');
    child.stdin!.end(events(0, 300));
    const { code } = await exit;
    expect(code).toBe(1);
    expect(fake.objects).toHaveLength(300);
  });

  test('exits at once if the key is rejected, even if its input is idle', async () => {
    const child = await startCli(['track'], { ...env, PLACARD_API_KEY: 'an-old-key' });
    const exit = ended(child);
    // One more than a request holds, on an input that stays open.
    child.stdin!.write(events(0, 76));
    const { code, stderr } = await exit;
    expect(stderr).toMatch(/returned 401: Invalid API key; nothing was accepted\n$/);
    expect(code).toBe(1);
  });
});
