// `PLACARD_WORKSPACE=… npm start`: the demo's visitors belong to the demo's workspace alone.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { announcement } from '../../demo/server/announce.ts';
import { type RunningDemo, startDemo } from '../../demo/server/start-demo.ts';
import { silentLog } from '../../src/service/index.ts';
import { aWorkspace, SERVER_KEY } from '../helpers/a-workspace.ts';

let folder: string;
let demo: RunningDemo;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'placard-own-'));
  const workspaceFile = join(folder, 'workspace.json');
  await writeFile(workspaceFile, JSON.stringify(aWorkspace()));
  const [db, host] = [':memory:', '127.0.0.1'];
  demo = await startDemo({
    workspaceFile,
    db,
    port: 0,
    studioPort: 0,
    host,
    log: silentLog,
    pages: () => false,
  });
});
afterAll(async () => {
  await demo.stop();
  await rm(folder, { recursive: true });
});

test('the demo starts on a workspace of one’s own, without its visitors, and says so in one line', () => {
  expect(demo.hasDemoKeys).toBe(false);
  const printed = announcement(demo);
  expect(printed).toContain('runs on a workspace of your own, without the visitors and the shop of the demo');
  expect(printed).toContain(`${demo.url}/docs`);
  expect(printed).not.toMatch(/demo-(?:client|server)-key|curl/);
});

test('it answers the workspace’s own keys, and nobody was made up in it', async () => {
  const answer = await fetch(`${demo.url}/users/export/ids`, {
    method: 'POST',
    headers: { authorization: `Bearer ${SERVER_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ external_ids: ['mira'] }),
  });
  expect(await answer.json()).toMatchObject({ users: [], invalid_user_ids: ['mira'] });
});
