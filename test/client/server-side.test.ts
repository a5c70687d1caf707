// @vitest-environment node
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { patience } from '../helpers/patience.ts';

const INDEX = new URL('../../src/client/index.ts', import.meta.url).href;
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Runs a module in a separate process, which must exit by itself. */
const run = async (code: string): Promise<unknown> => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], {
    cwd: ROOT,
    timeout: patience(15_000),
  });
  return JSON.parse(stdout);
};

test('can be imported and created on a server without effects or open handles', async () => {
  const seen = await run(`
    const { createPlacard, safeUrl } = await import(${JSON.stringify(INDEX)});
    const placard = createPlacard({
      endpoint: 'http://127.0.0.1:9', apiKey: 'k', appId: 'a', appVersion: '1', userId: 'u-1',
    });
    const stop = placard.subscribe(() => undefined);
    console.log(JSON.stringify([placard.banner('home_hero') ?? 'unknown', safeUrl('/sale', 'link'), typeof stop]));
  `);
  expect(seen).toEqual(['unknown', '/sale', 'function']);
});

test('creates an inert client for an invalid option on a server as well', async () => {
  const seen = await run(`
    const { createPlacard } = await import(${JSON.stringify(INDEX)});
    console.error = () => undefined;
    const placard = createPlacard({ endpoint: '', apiKey: 'k', appId: 'a', appVersion: '1', userId: null });
    placard.subscribe(({ message }) => console.log(JSON.stringify(message)));
  `);
  expect(seen).toContain('Option "endpoint" must be an http or https URL');
});

test('settles every method on a server, and reports why a refresh does nothing', async () => {
  const seen = await run(`
    const { createPlacard } = await import(${JSON.stringify(INDEX)});
    const placard = createPlacard({
      endpoint: 'http://127.0.0.1:9', apiKey: 'k', appId: 'a', appVersion: '1', userId: 'u-1',
    });
    const messages = [];
    placard.subscribe(({ message }) => messages.push(message));
    await placard.identify('u-2');
    await placard.refresh();
    await placard.flush();
    await placard.diagnostics();
    await placard.wipe();
    console.log(JSON.stringify(messages));
  `);
  expect(seen).toEqual(['The client is inactive on a server: refresh() was skipped']);
});
