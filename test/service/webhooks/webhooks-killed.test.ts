import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openStore, type Store } from '../../../src/service/index.ts';
import { aWorkspace } from '../../helpers/a-workspace.ts';
import { aBannerEvent, recordBannerEvents } from '../../helpers/banner-events.ts';
import { getProgram } from '../../helpers/built-programs.ts';
import { patience } from '../../helpers/patience.ts';
import { aDatabase } from '../../helpers/postgres.ts';
import { times } from '../../helpers/property.ts';
import { streamAll } from '../data-out/streaming.ts';
import { anEvent, byExternalId, NOW } from '../store/examples.ts';
import { aReceiver } from './receiver.ts';

const USERS = 20;
const EVENTS = times(100);
const KILLS = Math.min(times(2), 5);

const aFile = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'placard-webhooks-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'placard.db');
};

const fill = async (store: Store) => {
  for (let user = 0; user < USERS; user += 1) {
    const externalId = `u-${user}`;
    await store.write({
      workspaceId: 'test',
      lookups: [byExternalId(externalId)],
      nowMs: NOW,
      apply(users) {
        const profile = users.create({ externalId }, NOW);
        for (let index = 0; index < EVENTS; index += 1) users.record(profile, anEvent(profile, `e-${index}`));
      },
    });
    await recordBannerEvents(
      store,
      externalId,
      [aBannerEvent(), aBannerEvent({ eventType: 'click' })],
      'test',
    );
  }
};

test.each([
  ['SQLite', aFile],
  ['PostgreSQL', aDatabase],
])(
  'delivers each row with the ID of the stream, on %s, after any failure',
  async (_, address) => {
    const database = await address();
    const store = await openStore(database);
    await fill(store);
    const expected = (await streamAll(store, { workspaceId: 'test', limit: 500 })).map(({ id }) => id);
    await store.close();
    expect(new Set(expected).size).toBe(USERS * (EVENTS + 2));

    const receiver = await aReceiver();
    let requests = 0;
    receiver.answer = async () => {
      requests += 1;
      if (requests % 7 === 1) return new Response(null, { status: 500 });
      if (requests % 7 === 3) throw new Error('The connection is dropped');
      // Longer than the sender's timeout.
      if (requests % 17 === 5) await wait(600);
      return new Response(null, { status: 204 });
    };
    const workspace = aWorkspace({ webhooks: [{ webhook_id: 'crm', url: receiver.url, from: 'start' }] });
    const program = await getProgram('webhook-process');
    const start = (): ChildProcess =>
      spawn(process.execPath, [program, database, JSON.stringify(workspace)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
    const received = () => receiver.delivered.flatMap(({ events }) => events.map(({ id }) => id));
    const options = { timeout: patience(60_000), interval: 5 };
    for (let kill = 0; kill < KILLS; kill += 1) {
      const child = start();
      const exit = once(child, 'exit');
      const before = receiver.delivered.length + receiver.failed.length;
      await vi.waitFor(
        () => expect(receiver.delivered.length + receiver.failed.length).toBeGreaterThan(before + 1),
        options,
      );
      child.kill('SIGKILL');
      await exit;
    }
    // The receiver is killed too and restarts.
    await receiver.server.stop();
    const last = start();
    const exit = once(last, 'exit');
    await once(last.stdout!, 'data');
    await receiver.server.start();
    await vi.waitFor(() => expect(new Set(received()).size).toBe(expected.length), options);
    last.kill('SIGKILL');
    await exit;
    expect([...new Set(received())].sort()).toEqual(expected.toSorted());
  },
  patience(120_000),
);
