import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { exportLines, openForMaintenance, openStoreReader } from '../../src/service/index.ts';
import { aWorkspace } from '../helpers/a-workspace.ts';
import { getProgram } from '../helpers/built-programs.ts';
import { patience } from '../helpers/patience.ts';
import { aDatabase } from '../helpers/postgres.ts';
import { times } from '../helpers/property.ts';
import { aFolder } from './ingest.ts';

const PASSWORD = 'SOURCE_PASSWORD';
const STEPS = times(160);
const KILL_EVERY = 80;
/** Mostly process startup. */
const TIMEOUT_MS = times(patience(150_000));

/** Deterministic pseudorandom numbers. */
const randomFrom = (seed: number) => () => {
  seed = (seed * 1_664_525 + 1_013_904_223) % 2 ** 32;
  return seed / 2 ** 32;
};

const connected = async (url: string) => {
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
};

/** A source with random changes, and the rows expected in the store at the end. */
const aSource = async (url: string, random: () => number) => {
  const client = await connected(url);
  // Each has its own transaction, so that rows are committed late.
  const slow = await Promise.all([connected(url), connected(url)]);
  const isOpen = slow.map(() => false);
  await client.query(`CREATE TABLE people (id text PRIMARY KEY, external_id text, updated_at timestamptz, payload jsonb);
    CREATE TABLE happenings (id int PRIMARY KEY, "group" int, external_id text, updated_at timestamptz, payload jsonb)`);
  const people = new Map<string, number>();
  const events = new Set<number>();
  /** Groups of rejected events. */
  const broken = new Map<number, number>();
  const groups: number[] = [];
  let version = 0;
  let event = 0;

  const eventText = (id: number) =>
    JSON.stringify({ name: 'happened', time: '2026-03-01T10:00:00Z', properties: { id } });
  const upsert = (id: string, by: Client) => {
    version += 1;
    people.set(id, version);
    return by.query(
      `INSERT INTO people VALUES ($1, $1, now(), $2) ON CONFLICT (id) DO UPDATE SET updated_at = now(), payload = excluded.payload`,
      [id, JSON.stringify({ version })],
    );
  };
  /** Adds up to two events with the same key and time to a group. */
  const happen = async (by: Client, group = event + 1) => {
    const count = random() < 0.5 ? 1 : 2;
    const rows = Array.from({ length: count }, () => {
      event += 1;
      events.add(event);
      const isBroken = random() < 0.1;
      if (isBroken) broken.set(event, group);
      return { id: event, user: `u-${event % 7}`, payload: isBroken ? '{}' : eventText(event) };
    });
    await by.query(
      `INSERT INTO happenings SELECT id, $2, "user", now(), payload::jsonb FROM json_to_recordset($1) AS (id int, "user" text, payload text)`,
      [JSON.stringify(rows), group],
    );
    groups.push(group);
  };
  /** Adds events to an earlier group without rejects, because a newer row replaces the reject of its key. */
  const happenAgain = async () => {
    const group = groups[Math.floor(random() * groups.length)];
    if (group !== undefined && ![...broken.values()].includes(group)) await happen(client, group);
  };
  const endSlow = async (index: number) => {
    await slow[index]!.query('COMMIT');
    isOpen[index] = false;
  };

  return {
    people,
    events,
    async step() {
      const chance = random();
      const index = random() < 0.5 ? 0 : 1;
      if (chance < 0.1) {
        if (isOpen[index]) await endSlow(index);
        else {
          await slow[index]!.query('BEGIN');
          isOpen[index] = true;
        }
      } else if (chance < 0.3 && isOpen[index]) {
        // Separate users, so that no other write waits for the end of its transaction.
        await happen(slow[index]!);
        await upsert(`s${index}-${Math.floor(random() * 5)}`, slow[index]!);
      } else if (chance < 0.5) await happen(client);
      else if (chance < 0.6) await happenAgain();
      else if (chance < 0.9) await upsert(`p-${Math.floor(random() * 30)}`, client);
      else if (chance < 0.95) {
        const id = `p-${Math.floor(random() * 30)}`;
        people.delete(id);
        await client.query('DELETE FROM people WHERE id = $1', [id]);
      } else {
        // Fixes a rejected row and keeps its time.
        const [id] = broken.keys();
        if (id === undefined) return;
        const { rowCount } = await client.query('UPDATE happenings SET payload = $2 WHERE id = $1', [
          id,
          eventText(id),
        ]);
        if (rowCount) broken.delete(id);
      }
    },
    async end() {
      for (const index of [0, 1]) if (isOpen[index]) await endSlow(index);
      for (const id of broken.keys())
        await client.query('UPDATE happenings SET payload = $2 WHERE id = $1', [id, eventText(id)]);
      broken.clear();
    },
  };
};

const storedIn = async (address: string) => {
  const reader = await openStoreReader(address);
  try {
    const events: number[] = [];
    for await (const line of exportLines(reader, 'events', 'test')) {
      events.push((line as { properties: { id: number } }).properties.id);
    }
    const people = new Map<string, number>();
    for await (const line of exportLines(reader, 'users', 'test')) {
      const { external_id, custom_attributes } = line as {
        external_id: string;
        custom_attributes?: { version?: number };
      };
      if (custom_attributes?.version !== undefined) people.set(external_id, custom_attributes.version);
    }
    return { events: events.sort((a, b) => a - b), people };
  } finally {
    await reader.close();
  }
};

/** Resolves when this number of further runs has ended, which read the rejects again. */
const endRuns = async (address: string, count: number) => {
  const { ingestion, close } = await openForMaintenance(address);
  try {
    const countRuns = async () =>
      (await ingestion.runs('test', 'happenings', { limit: 10_000 })).filter(
        ({ status }) => status === 'success' || status === 'partial',
      ).length;
    const before = await countRuns();
    const wait = { timeout: patience(60_000), interval: 100 };
    await vi.waitFor(async () => expect(await countRuns()).toBeGreaterThan(before + count), wait);
  } finally {
    await close();
  }
};

describe.each([
  ['a SQLite file', async () => join(aFolder(), 'placard.db'), 1],
  ['PostgreSQL, by two replicas', aDatabase, 2],
] as const)('into %s', (_, address, replicas) => {
  test(
    'stores each last version and each event once after late commits, corrections and kills',
    async () => {
      const random = randomFrom(7);
      const from = new URL(await aDatabase());
      const source = await aSource(from.href, random);
      const password = decodeURIComponent(from.password);
      from.password = '';
      const table = { kind: 'postgres', url: from.href, password_env: PASSWORD };
      const file = join(aFolder(), 'workspace.json');
      const integrations = [
        { integration_id: 'people', source: { ...table, table: 'people', rows: 'attributes' } },
        {
          integration_id: 'happenings',
          source: { ...table, table: 'happenings', rows: 'events', key: 'group' },
        },
      ];
      writeFileSync(file, JSON.stringify(aWorkspace({ integrations })));
      const database = await address();

      const program = await getProgram('ingest-process');
      const children: (ChildProcess | null)[] = Array.from({ length: replicas }, () => null);
      const start = async (index: number) => {
        const child = spawn(process.execPath, [program, database, file], {
          env: { ...process.env, [PASSWORD]: password },
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        children[index] = child;
        await once(child.stdout!, 'data');
      };
      const kill = async (index: number) => {
        const child = children[index]!;
        const exited = once(child, 'exit');
        child.kill('SIGKILL');
        await exited;
      };
      onTestFinished(() => children.forEach((child) => void child?.kill('SIGKILL')));

      for (const index of children.keys()) await start(index);
      for (let step = 1; step <= STEPS; step += 1) {
        await source.step();
        if (step % KILL_EVERY === 0) {
          const index = Math.floor(random() * replicas);
          await kill(index);
          await start(index);
        }
      }
      await endRuns(database, 2);
      await source.end();
      const expected = [...source.events].sort((a, b) => a - b);
      await vi.waitFor(
        async () => {
          const { events, people } = await storedIn(database);
          expect(events).toEqual(expected);
          for (const [id, version] of source.people) expect([id, people.get(id)]).toEqual([id, version]);
        },
        { timeout: patience(60_000), interval: 200 },
      );
    },
    TIMEOUT_MS,
  );
});
