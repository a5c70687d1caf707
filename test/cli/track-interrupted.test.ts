import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createFakeService, type FakeService } from '../../src/testing/index.ts';
import { type HttpServer, serveHandler } from '../helpers/http-server.ts';
import { ended, startCli } from '../helpers/run-cli.ts';

const event = (at: number) =>
  `{"events":{"external_id":"kim","name":"e${at}","time":"2026-01-01T00:00:00Z"}}\n`;
const events = (count: number) => Array.from({ length: count }, (_, at) => event(at)).join('');

const WAITING = 'placard: finishing in-flight requests; a second signal aborts them\n';

describe('placard track, interrupted', () => {
  let fake: FakeService;
  let server: HttpServer;
  let child: ChildProcess;
  /** Resolves when the service receives a request. */
  let asked: PromiseWithResolvers<void>;
  /** The service holds all responses until this resolves. */
  let answers: PromiseWithResolvers<void>;

  beforeEach(async () => {
    fake = createFakeService();
    asked = Promise.withResolvers();
    answers = Promise.withResolvers();
    server = await serveHandler(async (request) => {
      asked.resolve();
      await answers.promise;
      return fake.handle(request);
    });
    child = await startCli(['track'], { PLACARD_ENDPOINT: server.origin, PLACARD_API_KEY: 'server-key' });
  });
  afterEach(async () => {
    answers.resolve();
    child.kill('SIGKILL');
    await server.close();
  });

  /** Output of the command at exit, and a way to wait for its first output. */
  const watch = () => {
    const exit = ended(child).then(({ stdout, ...rest }) => ({
      ...rest,
      lines: stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    }));
    const hasSaid = async (stream: 'stdout' | 'stderr') => {
      await Promise.race([once(child[stream]!, 'data'), exit]);
    };
    return { exit, hasSaid };
  };

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    'stops reading at %s, waits for pending requests, and prints the last line',
    async (signal, expected) => {
      const { exit, hasSaid } = watch();
      // More than one request holds, on an input that stays open.
      child.stdin!.write(events(80));
      await asked.promise;
      child.kill(signal);
      await hasSaid('stderr');
      child.stdin!.write(events(80));
      answers.resolve();
      const { code, stderr, lines } = await exit;
      expect(stderr).toBe(
        `${WAITING}placard: interrupted by ${signal}; ` +
          '0 attributes, 80 events, 0 purchases accepted in 2 requests; nothing after line 80 was sent\n',
      );
      expect([code, lines]).toEqual([expected, []]);
      expect(fake.objects).toHaveLength(80);
    },
  );

  test('exits at the second signal, and reports each line that is in doubt or was not sent', async () => {
    const { exit, hasSaid } = watch();
    child.stdin!.write(events(80));
    await asked.promise;
    child.kill('SIGTERM');
    await hasSaid('stderr');
    child.kill('SIGINT');
    const { code, stderr, lines } = await exit;
    expect(stderr).toMatch(
      /interrupted by SIGINT.*; 0 attributes, 0 events, 0 purchases accepted in 1 request; nothing after line 80 /,
    );
    expect(code).toBe(130);
    expect(lines).toEqual(
      Array.from({ length: 80 }, (_, at) => ({
        line: at + 1,
        array: 'events',
        reason: at < 75 ? 'in doubt: no response arrived, it may be stored or not' : 'not sent',
      })),
    );
  });

  test('exits while its input is idle', async () => {
    const { exit, hasSaid } = watch();
    child.stdin!.write('{not json\n');
    await hasSaid('stdout');
    child.kill('SIGTERM');
    const { code, stderr } = await exit;
    expect([code, stderr]).toEqual([143, `${WAITING}placard: interrupted by SIGTERM\n`]);
  });

  test('exits with 0 if the input has already been read', async () => {
    const { exit, hasSaid } = watch();
    child.stdin!.end(events(1));
    await asked.promise;
    child.kill('SIGINT');
    await hasSaid('stderr');
    answers.resolve();
    const { code, stderr } = await exit;
    expect([code, stderr]).toEqual([
      0,
      `${WAITING}0 attributes, 1 event, 0 purchases accepted in 1 request\n`,
    ]);
  });
});
