import { expect, test } from 'vitest';
import { createFakeService } from '../../src/testing/index.ts';
import { serveHandler } from '../helpers/http-server.ts';
import { ended, startCli } from '../helpers/run-cli.ts';

const event = (at: number) =>
  `{"events":{"external_id":"kim","name":"e${at}","time":"2026-01-01T00:00:00Z"}}\n`;

test('placard track sends lines of a growing input, such as `tail -f`, before it ends', async () => {
  const fake = createFakeService();
  const hasCome = Promise.withResolvers<void>();
  const server = await serveHandler(async (request) => {
    const response = await fake.handle(request);
    hasCome.resolve();
    return response;
  });
  const child = await startCli(['track'], { PLACARD_ENDPOINT: server.origin, PLACARD_API_KEY: 'server-key' });
  const exit = ended(child);
  try {
    child.stdin!.write(`{not json\n${event(1)}${event(2)}`);
    await hasCome.promise;
    expect(fake.objects.map(({ object }) => object['name'])).toEqual(['e1', 'e2']);
    child.stdin!.end(`${event(3)}nor this\n`);
    const { stdout, stderr } = await exit;
    expect(stderr).toContain('3 events, 0 purchases accepted in 2 requests');
    expect(stdout.match(/"line":\d/g)).toEqual(['"line":1', '"line":5']);
  } finally {
    child.kill('SIGKILL');
    await server.close();
  }
});
