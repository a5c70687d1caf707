import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { curl } from '../helpers/curl.ts';
import { runCli, serveCli, spawnCli } from '../helpers/run-cli.ts';
import { runStudio } from '../helpers/running-studio.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'placard-init-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const init = (...words: string[]) => runCli(['init', ...words], {}, folder);
const read = (name = 'workspace.json') => JSON.parse(readFileSync(join(folder, name), 'utf8'));
const keysIn = (stdout: string) => stdout.match(/placard_(?:client|server)_[\w-]{32}/g) ?? [];

describe('placard init', () => {
  test('writes a workspace that passes check', async () => {
    expect(await init()).toMatchObject({ code: 0, stderr: '' });
    const { code, stdout, stderr } = await runCli(['check', '--strict', join(folder, 'workspace.json')]);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: 'main: 1 campaign, 2 keys, no problem\n',
      stderr: '',
    });
  });

  test('prints new keys once, and stores only their hashes', async () => {
    const [client, server] = keysIn((await init()).stdout);
    const text = readFileSync(join(folder, 'workspace.json'), 'utf8');
    expect(text).not.toContain(client);
    expect(text).not.toContain(server);
    const hashes = [client!, server!].map((key) => createHash('sha256').update(key).digest('hex'));
    expect(read().api_keys.map(({ key_sha256 }: { key_sha256: string }) => key_sha256)).toEqual(hashes);
    expect(keysIn((await init('other.json')).stdout)).not.toContain(client);
  });

  test('prints a command to start the service, and one to request the banner', async () => {
    const { stdout } = await init('deep/shop.json');
    expect(stdout).toContain('\n  npx placard serve --workspace deep/shop.json --studio-port 8788\n');
    const service = await serveCli([
      '--workspace',
      join(folder, 'deep/shop.json'),
      '--db',
      ':memory:',
      '--port',
      '0',
    ]);
    const [call = ''] = /^ {2}curl .*$/m.exec(stdout) ?? [];
    const answer = await curl(call.trim().replace('http://127.0.0.1:8787', service.url));
    expect(await answer.json()).toMatchObject({
      banners: { home_hero: { properties: { headline: { value: 'Hello there' } } } },
    });
    service.child.kill('SIGTERM');
    expect((await service.exit).code).toBe(0);
  });

  test('writes a workspace whose Studio accepts the printed operator key, and publishes', async () => {
    const { stdout } = await init();
    const [key = ''] = /op_[\w-]{43}/.exec(stdout) ?? [];
    expect(JSON.stringify(read())).not.toContain(key);
    const studio = await runStudio(read());
    const { status, headers } = await studio.call('POST', '/api/session', { body: { key } });
    expect(status).toBe(204);
    const cookie = headers.get('set-cookie')!.split(';')[0];
    const campaign = { ...read().campaigns[0], name: 'Welcome, changed' };
    const { body } = await studio.call('PUT', '/api/drafts/welcome', {
      body: { campaign, based_on: 0 },
      cookie,
    });
    expect(body.checks.filter(({ severity }: { severity: string }) => severity === 'error')).toEqual([]);
    const link = await studio.call('POST', '/api/preview-links', {
      body: {
        campaign_id: 'welcome',
        revision: body.revision,
        variant_id: 'a',
        persona: null,
        page: 'http://localhost:5173/',
      },
      cookie,
    });
    expect(link.status).toBe(201);
    const published = await studio.call('POST', '/api/releases', {
      body: { campaign_id: 'welcome', revision: body.revision, note: '' },
      cookie,
    });
    expect(published.status).toBe(201);
    await studio.stop();
  });

  test('keeps an existing file', async () => {
    writeFileSync(join(folder, 'workspace.json'), 'mine');
    expect(await init()).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'placard: workspace.json already exists; name another file\n',
    });
    expect(readFileSync(join(folder, 'workspace.json'), 'utf8')).toBe('mine');
  });

  test('references the JSON Schema if the package is installed', async () => {
    mkdirSync(join(folder, 'node_modules/placard/dist'), { recursive: true });
    writeFileSync(join(folder, 'node_modules/placard/dist/workspace.schema.json'), '{}');
    await init('deep/shop.json');
    expect(read('deep/shop.json').$schema).toBe('./../node_modules/placard/dist/workspace.schema.json');
  });

  test('is suggested if a workspace file is missing', async () => {
    const { stdout } = await spawnCli(['serve', '--workspace', 'none.json', '--db', ':memory:']);
    expect(JSON.parse(stdout)).toMatchObject({
      level: 'fatal',
      problem: 'none.json does not exist; placard init creates a workspace file',
    });
  });
});
