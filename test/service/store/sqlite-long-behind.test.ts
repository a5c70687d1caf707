// Whoever starts from a file whose rows have been behind for long needs the memory of its users, not of all they did.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, test } from 'vitest';
import { openStore } from '../../../src/service/store/index.ts';
import { packEvents } from '../../../src/service/store/packed-events.ts';
import { anEvent, byExternalId } from './contract.ts';

const folder = mkdtempSync(join(tmpdir(), 'placard-long-'));
afterAll(() => rmSync(folder, { recursive: true }));

const HEAP_MB = 64;
const REQUESTS = 200;
/** 20 MB of attributes and 120 MB of events: they take several times as much in memory. */
const NOTE = 'x'.repeat(100_000);
const EVENTS = 40;
const NOW = Date.UTC(2026, 2, 1);

/** A file in which one user has changed with every request, and the user's row knows of none. */
const makeFile = async (file: string) => {
  const store = await openStore(file);
  const profile = await store.writeUsers({
    workspaceId: 'demo',
    lookups: [],
    nowMs: NOW,
    apply: (users) => users.create({ externalId: 'u-1' }, NOW),
  });
  await store.close();
  const event = { ...anEvent(profile, 'e', NOW), details: { properties: { note: 'y'.repeat(15_000) } } };
  const events = packEvents(Array.from({ length: EVENTS }, () => event));
  const database = new DatabaseSync(file);
  const addJournal = database.prepare("INSERT INTO journal VALUES (?, 'demo', ?)");
  const addEvents = database.prepare("INSERT INTO events VALUES (?, 'demo', ?, ?, ?)");
  database.exec('BEGIN');
  for (let request = 2; request < REQUESTS + 2; request += 1) {
    const custom = { n: request, note: NOTE };
    addJournal.run(request, JSON.stringify([[profile.brazeId, {}, custom, {}, NOW]]));
    addEvents.run(request, NOW, NOW, events);
  }
  database.prepare('UPDATE progress SET last_request = ?, settled_request = 1').run(REQUESTS + 1);
  database.exec('COMMIT');
  database.close();
};

/** What `work` makes of the store's module and the file, in a thread that has little memory. */
const inLittleMemory = (work: string, file: string) =>
  new Promise((resolve, reject) => {
    const module = new URL('../../../src/service/store/index.ts', import.meta.url).href;
    const thread = new Worker(
      `const { parentPort, workerData } = require('node:worker_threads');
       import(workerData.module).then(async (stores) => {
         parentPort.postMessage(await (${work})(stores, workerData.file));
       });`,
      { eval: true, workerData: { module, file }, resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } },
    );
    thread.once('message', resolve);
    thread.once('error', reject);
  });

const expected = { n: REQUESTS + 1, events: { e: { first: NOW, last: NOW, count: REQUESTS * EVENTS } } };

test('an export beside the service, a start and what follows it run in little memory', async () => {
  const file = join(folder, 'long.db');
  await makeFile(file);
  const exported = await inLittleMemory(
    `async ({ openStoreReader }, file) => {
       const reader = await openStoreReader(file);
       let seen;
       for await (const { custom, events } of reader.exportUsers('demo')) seen = { n: custom.n, events };
       await reader.close();
       return seen;
     }`,
    file,
  );
  expect(exported).toEqual(expected);
  const opened = await inLittleMemory(
    `async ({ openStore }, file) => {
       const store = await openStore(file);
       const [{ custom, events }] = await store.readUsers('demo', [${JSON.stringify(byExternalId('u-1'))}]);
       await store.close();
       return { n: custom.n, events };
     }`,
    file,
  );
  expect(opened).toEqual(expected);
}, 60_000);
