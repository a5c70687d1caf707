import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createService, openStore } from '../../src/service/index.ts';
import { aCampaign, aWorkspace } from '../helpers/a-workspace.ts';
import { ended, runCli, spawnCli, startCli } from '../helpers/run-cli.ts';

let folder: string;
const file = (name: string) => join(folder, name);
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'placard-cli-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('placard', () => {
  test('prints its version', async () => {
    const { code, stdout } = await runCli(['--version']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });

  test('prints the required Node version on an older one', async () => {
    for (const [older, isRefused] of [
      ['20.19.0', true],
      ['22.18.0', true],
      ['22.19.0', false],
    ] as const) {
      const pretend = `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'${older}'})`;
      const { code, stderr } = await spawnCli(['--version'], { NODE_OPTIONS: `--import=${pretend}` });
      expect({ older, code }).toEqual({ older, code: isRefused ? 1 : 0 });
      if (isRefused) {
        expect(stderr).toMatch(
          /^placard needs Node 22\.19 or newer; this is v[\d.]+, \/.+\. Install a newer one .+node_modules\/\.bin\/placard\n$/,
        );
      }
    }
  });

  test('rejects an unknown command in one sentence', async () => {
    const { code, stderr } = await spawnCli(['publish']);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^placard: unknown command "publish"; try init, serve, .*\n$/),
    });
  });
});

describe('placard check', () => {
  test('accepts a valid workspace', async () => {
    writeFileSync(file('good.json'), JSON.stringify(aWorkspace()));
    const { code, stdout } = await runCli(['check', file('good.json')]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'test: 0 campaigns, 2 keys, no problem\n' });
  });

  test('reports schema errors of a workspace before other problems', async () => {
    writeFileSync(file('bad.json'), JSON.stringify(aWorkspace({ apps: 5, colour: 'red' })));
    const { code, stderr } = await runCli(['check', file('bad.json')]);
    expect(code).toBe(1);
    expect(stderr.split('\n')).toEqual([
      `${file('bad.json')}: apps: expected array, got 5`,
      `${file('bad.json')}: colour: unknown field`,
      `placard: ${file('bad.json')} has 2 problems; fix them and check again, there may be more`,
      '',
    ]);
    writeFileSync(file('bad.json'), JSON.stringify(aWorkspace({ campaigns: [aCampaign(), aCampaign()] })));
    expect((await runCli(['check', file('bad.json')])).stderr).toMatch(
      /expected it once.*\n.* has 1 problem\n$/,
    );
  });

  test('reports invalid JSON without quoting it', async () => {
    writeFileSync(file('bad.json'), '{\n  "key": "secret",\n}');
    const { stderr } = await runCli(['check', file('bad.json')]);
    expect(stderr).toContain(
      'the file: expected JSON, got something that cannot be parsed (line 3 column 1)',
    );
    expect(stderr).not.toContain('secret');
  });

  test('reports a duplicate member, because only the last one would count', async () => {
    const text = JSON.stringify(aWorkspace()).replace('{', '{"campaigns":[{}],"campaigns":[],');
    writeFileSync(file('bad.json'), text);
    const { code, stderr } = await runCli(['check', file('bad.json')]);
    expect(code).toBe(1);
    expect(stderr).toContain(`${file('bad.json')}: campaigns: expected it once, got it again\n`);
  });

  test('rejects more than one path, because the others would not be checked', async () => {
    writeFileSync(file('good.json'), JSON.stringify(aWorkspace()));
    const { code, stdout, stderr } = await runCli(['check', file('good.json'), file('bad.json')]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(`placard: "${file('bad.json')}" is an unexpected argument\n`);
  });

  test('finds no problems in the demo workspace', async () => {
    expect(await runCli(['check', 'demo/workspace.json'])).toMatchObject({ code: 0 });
  });
});

describe('placard export', () => {
  const fill = async (db: string, workspaceIds: string[], users = 1) => {
    const store = await openStore(db);
    const getKey = (id: string) => `${id}-key`;
    const service = createService({
      workspaces: workspaceIds.map((id) =>
        aWorkspace({
          workspace_id: id,
          api_keys: [{ type: 'server', key: getKey(id), permissions: ['users.track'] }],
        }),
      ),
      store,
    });
    for (const id of workspaceIds) {
      for (let start = 0; start < users; start += 75) {
        const attributes = Array.from({ length: Math.min(75, users - start) }, (_, index) => ({
          external_id: `${id}-${start + index}`,
          filler: 'x'.repeat(200),
        }));
        const { status } = await service.fetch(
          new Request('http://localhost/users/track', {
            method: 'POST',
            headers: { authorization: `Bearer ${getKey(id)}`, 'content-type': 'application/json' },
            body: JSON.stringify({ attributes }),
          }),
        );
        expect(status).toBe(201);
      }
    }
    await service.close();
  };

  test('requires a workspace if the database has several', async () => {
    await fill(file('two.db'), ['one', 'two']);
    const asked = await runCli(['export', 'users', '--db', file('two.db')]);
    expect(asked).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'placard: the database holds several workspaces (one, two); name one with --workspace\n',
    });
    const { code, stdout } = await runCli(['export', 'users', '--db', file('two.db'), '--workspace', 'two']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ external_id: 'two-0' });
    const unknown = await runCli(['export', 'users', '--db', file('two.db'), '--workspace', 'three']);
    expect(unknown.stderr).toBe(
      'placard: the database holds nothing of workspace "three"; it holds one, two\n',
    );
  });

  test('writes thousands of lines, and exits silently when its reader closes the pipe', async () => {
    await fill(file('many.db'), ['one'], 3_000);
    const { stdout } = await runCli(['export', 'users', '--db', file('many.db')]);
    const lines = stdout.trimEnd().split('\n');
    expect(new Set(lines.map((line) => JSON.parse(line).external_id)).size).toBe(3_000);

    const child = await startCli(['export', 'users', '--db', file('many.db')]);
    const exit = ended(child);
    await once(child.stdout!, 'data');
    child.stdout!.destroy();
    expect(await exit).toMatchObject({ code: 0, stderr: '' });
  });

  test.each<[string[], RegExp]>([
    [['export'], /^placard: export needs one of users, events, banner-events, data-points\n$/],
    [['export', 'campaigns', '--db', 'x'], /^placard: export needs one of users, .* got "campaigns"\n$/],
    [['export', 'users'], /^placard: export needs --db, the database that the service uses\n$/],
    [['export', 'users', '--db', 'nowhere.db'], /^placard: [^\n]+\n$/],
    [['export', 'users', '--bd', 'x'], /^placard: unknown option --bd; /],
    [['export', 'users', 'events'], /^placard: "events" is an unexpected argument\n$/],
    [['serve', 'workspace.json'], /^placard: "workspace\.json" is an unexpected argument\n$/],
  ])('fails in one sentence: %j', async (words, sentence) => {
    const { code, stderr } = await runCli(words);
    expect(code).toBe(1);
    expect(stderr).toMatch(sentence);
  });
});
