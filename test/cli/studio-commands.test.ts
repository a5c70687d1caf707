import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadWorkspaces, openStore, type Store } from '../../src/service/index.ts';
import { aCampaign, aVariant } from '../helpers/a-workspace.ts';
import { runCli, spawnCli } from '../helpers/run-cli.ts';
import { aStudioWorkspace } from '../helpers/running-studio.ts';

let folder: string;
let store: Store;
const file = (name: string) => join(folder, name);
const workspace = () => file('workspace.json');
const db = () => file('live.db');

const saying = (headline: string) =>
  aCampaign({
    campaign_id: 'sale/50 %',
    placements: ['home'],
    variants: [aVariant({ properties: { headline: { type: 'string', value: headline } } })],
  });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'placard-mirror-'));
  writeFileSync(workspace(), JSON.stringify(aStudioWorkspace({ campaigns: [saying('From the file')] })));
  // As with a running service, the file stays open.
  store = await openStore(db());
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const campaigns = (action: string, into: string, ...more: string[]) =>
  runCli(['campaigns', action, file(into), '--workspace', workspace(), '--db', db(), ...more]);
const mirrored = (into: string) => join(file(into), `${encodeURIComponent('sale/50 %')}.json`);
const write = (into: string, campaign: unknown) => writeFileSync(mirrored(into), JSON.stringify(campaign));

describe('placard campaigns', () => {
  test('pulls, pushes and lists releases while the service is running', async () => {
    expect(await campaigns('pull', 'git')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('1 campaigns'),
    });
    expect(JSON.parse(readFileSync(mirrored('git'), 'utf8'))).toEqual(saying('From the file'));
    expect((await campaigns('push', 'git')).stdout).toBe('No changes to publish.\n');

    write('git', saying('From git'));
    const pushed = await campaigns('push', 'git', '--author', 'ci', '--note', 'a commit');
    expect(pushed).toMatchObject({ code: 0, stdout: 'sale/50 %: release 1\n' });
    expect((await store.studio.release('test', 1))?.content).toEqual(saying('From git'));
    expect((await campaigns('log', 'git')).stdout).toMatch(/^1 {2}\S+Z {2}sale\/50 % {2}ci {2}a commit\n$/);
    expect(await store.studio.audit('test', { limit: 1 })).toMatchObject([
      { operator: 'ci', action: 'campaign.publish' },
    ]);

    // The last push is the base of the next one.
    write('git', saying('From git, again'));
    expect((await campaigns('push', 'git')).stdout).toBe('sale/50 %: release 2\n');
  });

  test('rejects a push over another release unless it is forced', async () => {
    await campaigns('pull', 'mine');
    await campaigns('pull', 'theirs');
    write('theirs', saying('Theirs'));
    await campaigns('push', 'theirs', '--author', 'Leo');
    write('mine', saying('Mine'));
    const refused = await campaigns('push', 'mine');
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('sale/50 % (release 3 by Leo)'),
    });
    expect((await campaigns('push', 'mine', '--force')).stdout).toBe('sale/50 %: release 4\n');
  });

  test('publishes a campaign that was pulled from another database', async () => {
    await campaigns('pull', 'elsewhere');
    const fresh = ['--workspace', workspace(), '--db', file('fresh.db')];
    await (await openStore(file('fresh.db'))).close();
    write('elsewhere', saying('From elsewhere'));
    expect(await runCli(['campaigns', 'push', file('elsewhere'), ...fresh])).toMatchObject({
      code: 0,
      stdout: 'sale/50 %: release 1\n',
    });
  });

  test('does not publish anything if a file has an error', async () => {
    await campaigns('pull', 'broken');
    write('broken', saying(''));
    expect(await campaigns('push', 'broken')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('nothing was published'),
    });
    write('broken', { ...saying('x'), campaign_id: 'another' });
    expect((await campaigns('push', 'broken')).stderr).toContain('the file is named after');
    writeFileSync(mirrored('broken'), '{');
    expect((await campaigns('push', 'broken')).stderr).toContain('expected JSON');
    expect(await store.studio.releases('test', { limit: 9 })).toHaveLength(4);
  });

  test('deletes files of archived campaigns on pull', async () => {
    await campaigns('pull', 'last');
    expect(existsSync(mirrored('last'))).toBe(true);
    await store.studio.addRelease({
      workspaceId: 'test',
      kind: 'campaign',
      subjectId: 'sale/50 %',
      content: null,
      basedOn: 4,
      author: 'Mia',
      note: '',
      createdAtMs: Date.now(),
      liveAtMs: Date.now(),
    });
    const words = ['campaigns', 'pull', file('last'), '--workspace', workspace(), '--db', db()];
    expect((await spawnCli(words)).code).toBe(0);
    expect(existsSync(mirrored('last'))).toBe(false);
  });

  test('skips segments, and pushes a campaign that uses a segment', async () => {
    const release = { workspaceId: 'test', author: 'Mia', note: '', createdAtMs: 0, liveAtMs: 0 };
    await store.studio.addRelease({
      ...release,
      kind: 'segment',
      subjectId: 'gold',
      content: { name: 'Gold', audience: { tier: 'gold' } },
      basedOn: 0,
    });
    expect(await campaigns('pull', 'segments')).toMatchObject({
      stdout: expect.stringContaining('0 campaigns'),
    });
    write('segments', { ...saying('For gold'), audience: { $segment: 'gold' } });
    expect((await campaigns('push', 'segments', '--force')).stdout).toMatch(/^sale\/50 %: release \d+\n$/);
  });

  test('reports missing arguments', async () => {
    expect((await runCli(['campaigns', 'fetch'])).stderr).toContain('specify one of pull, push, log');
    expect((await runCli(['campaigns', 'log'])).stderr).toContain('specify --workspace');
    expect((await runCli(['campaigns', 'log', '--workspace', workspace()])).stderr).toContain('specify --db');
    writeFileSync(file('file.json'), JSON.stringify(aStudioWorkspace({ campaigns_from: 'file' })));
    const words = ['campaigns', 'log', '--workspace', file('file.json'), '--db', db()];
    expect((await runCli(words)).stderr).toContain('its campaigns are in the file itself');
  });
});

describe('placard operator create', () => {
  test('prints a key once, with its entry for the workspace file', async () => {
    const { code, stdout } = await runCli([
      'operator',
      'create',
      '--name',
      'Mia',
      '--role',
      'edit',
      '--view-users',
    ]);
    expect(code).toBe(0);
    const key = /op_[\w-]{43}/.exec(stdout)?.[0];
    const line = JSON.parse(/\{.*\}/.exec(stdout)![0]);
    expect(line).toEqual({
      name: 'Mia',
      role: 'edit',
      can_view_users: true,
      key_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(JSON.stringify(line)).not.toContain(key);
    writeFileSync(file('operator.json'), JSON.stringify(aStudioWorkspace({ operators: [line] })));
    expect(loadWorkspaces(file('operator.json')).workspaces[0]?.operators).toMatchObject([
      { name: 'Mia', role: 'edit' },
    ]);
  });

  test.each([
    [['operator', 'create', '--role', 'edit'], 'specify --name'],
    [['operator', 'create', '--name', 'Mia'], 'specify --role as one of view, edit, publish, admin'],
    [['operator', 'create', '--name', 'Mia', '--role', 'god'], 'specify --role as one of'],
    [['operator', 'list'], 'specify "placard operator create"'],
  ])('reports missing arguments of %j', async (words, problem) => {
    expect(await runCli(words)).toMatchObject({ code: 1, stderr: expect.stringContaining(problem) });
  });
});
