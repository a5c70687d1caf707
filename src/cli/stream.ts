import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { defineCommand } from 'citty';
import { SECOND_MS } from '../protocol/index.ts';
import { readSecret } from '../secrets/index.ts';
import {
  createPost,
  DATA_EVENT_NAMES,
  type DataEventName,
  FEED_START,
  type FileFormat,
  type FindWorkspace,
  fileRow,
  formatCursor,
  isDataEventName,
  isPostgres,
  loadWorkspaces,
  openForMaintenance,
  parseCursor,
  readEvents,
  removeUnfinished,
  retryDelayMs,
  sendMessage,
  writePartitions,
} from '../service/index.ts';
import { chosenWorkspace, dbOption, requireDatabase, warnOfPassword } from './database.ts';
import { createInterruption } from './exit.ts';
import { namedHosts } from './named-hosts.ts';
import { createPostgresSink } from './postgres-sink.ts';
import { count } from './sentence.ts';
import type { Sink } from './sink.ts';
import { writeLine } from './stdout.ts';

const options = {
  target: { type: 'positional', description: 'Folder, or URL of a webhook', required: false },
  to: {
    type: 'string',
    description: 'ndjson, parquet, webhook, or the URL of a PostgreSQL database',
    valueHint: 'KIND|postgres://…',
  },
  from: {
    type: 'string',
    description: 'start (default), now, or a cursor that an earlier run printed',
    valueHint: 'CURSOR',
  },
  resume: {
    type: 'string',
    description: 'File that keeps the cursor; a later run continues from it',
    valueHint: 'FILE',
  },
  follow: { type: 'boolean', description: 'Wait for new events at the end' },
  types: {
    type: 'string',
    description: 'Event types, separated by commas; default all',
    valueHint: 'TYPE,…',
  },
  workspace: { type: 'string', description: 'Workspace ID; needed if there are several', valueHint: 'ID' },
  names: {
    type: 'string',
    description: 'Workspace file with the names of campaigns (PLACARD_WORKSPACE)',
    valueHint: 'FILE|FOLDER',
  },
  'secret-env': {
    type: 'string',
    description: 'Variable with the secret that signs (webhook)',
    valueHint: 'NAME',
  },
  db: dbOption,
} as const;

const lines: Sink = {
  rows: 1_000,
  pollMs: SECOND_MS,
  async write({ events }) {
    for (const event of events)
      await writeLine(JSON.stringify({ event_type: event.type, ...fileRow(event) }));
  },
  close: () => undefined,
};

/**
 * Creates a sink that names files by workspace and start cursor, so that workspaces can share a folder, and a rerun after a crash
 * overwrites the last batch.
 */
const files = (folder: string, format: FileFormat): Sink => {
  mkdirSync(folder, { recursive: true });
  removeUnfinished(folder);
  return {
    rows: 20_000,
    // Each poll may add a file to each partition.
    pollMs: 300 * SECOND_MS,
    async write({ events, from }) {
      writePartitions(folder, format, from, events);
    },
    close: () => undefined,
  };
};

const receiver = (url: string, secretVariable: string | undefined): Sink => {
  if (!URL.canParse(url)) throw new Error(`expected the URL of a webhook, got "${url}"`);
  const { post, close } = createPost({
    privateHosts: namedHosts(process.env['PLACARD_WEBHOOK_PRIVATE_HOSTS']),
  });
  const webhook = {
    webhookId: url,
    name: url,
    url,
    eventTypes: null,
    format: 'currents' as const,
    secretVariables: secretVariable === undefined ? [] : [secretVariable],
    tokenVariable: null,
    from: 'start' as const,
    isPaused: false,
  };
  return {
    rows: 100,
    pollMs: SECOND_MS,
    async write({ events }, signal) {
      if (events.length === 0) return;
      const messageId = `msg_${randomUUID()}`;
      for (let failures = 1; ; failures += 1) {
        const { error, retryAfterMs, isMisconfigured } = await sendMessage(webhook, messageId, events, {
          post,
          readSecret,
          nowMs: Date.now(),
          signal,
        });
        if (error === null) return;
        signal.throwIfAborted();
        if (error === 'private_address')
          throw new Error(
            `${url} is not a public address; to allow it, add its host to PLACARD_WEBHOOK_PRIVATE_HOSTS`,
          );
        if (isMisconfigured) throw new Error(`${url}: ${error}`);
        if (error === 'http_410') throw new Error(`${url} returned 410: the endpoint is gone`);
        const delayMs = retryDelayMs(failures, retryAfterMs);
        process.stderr.write(`${url}: ${error}; retry in ${Math.ceil(delayMs / SECOND_MS)} s\n`);
        await wait(delayMs, undefined, { signal });
      }
    },
    close,
  };
};

interface SinkOptions {
  to: string | undefined;
  target: string | undefined;
  secretVariable: string | undefined;
  types: ReadonlySet<DataEventName> | null;
}

const createSink = ({ to, target, secretVariable, types }: SinkOptions): Sink => {
  if (to !== undefined && isPostgres(to)) {
    if (target !== undefined) throw new Error(`--to names the database, so "${target}" is not expected`);
    warnOfPassword('--to', to, 'a password file (PGPASSFILE)');
    return createPostgresSink(to, types);
  }
  const needed = (what: string) => {
    if (target === undefined) throw new Error(`name the ${what}: placard stream --to ${to} …`);
    return target;
  };
  switch (to) {
    case 'ndjson':
      return target === undefined ? lines : files(target, 'ndjson');
    case 'parquet':
      return files(needed('folder'), 'parquet');
    case 'webhook':
      return receiver(needed('URL'), secretVariable);
    default:
      throw new Error(
        `stream needs --to ndjson, parquet, webhook or postgres://…${to === undefined ? '' : `, got "${to}"`}`,
      );
  }
};

const parseTypes = (text: string | undefined): ReadonlySet<DataEventName> | null => {
  if (text === undefined) return null;
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !isDataEventName(name));
  if (unknown !== undefined)
    throw new Error(`--types has "${unknown}"; the types are ${DATA_EVENT_NAMES.join(', ')}`);
  return new Set(names.filter(isDataEventName));
};

/** Creates a store of the cursor in a file that is replaced atomically. */
const cursorFile = (path: string | undefined) => ({
  read: () => (path !== undefined && existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined),
  write(cursor: string) {
    if (path === undefined) return;
    writeFileSync(`${path}.tmp`, `${cursor}\n`, { flush: true });
    renameSync(`${path}.tmp`, path);
  },
});

const workspaceFinder = (path: string | undefined): FindWorkspace => {
  const file = path ?? process.env['PLACARD_WORKSPACE'];
  if (!file) return () => undefined;
  const { workspaces } = loadWorkspaces(file);
  return (id) => workspaces.find(({ workspaceId }) => workspaceId === id);
};

/** `placard stream`: streams events in commit order from any cursor. */
export const stream = defineCommand({
  meta: {
    name: 'stream',
    description: 'Write events to a file, a folder, a webhook or PostgreSQL, from any cursor.',
  },
  args: options,
  run: async ({ args }) => {
    const resume = cursorFile(args.resume);
    const types = parseTypes(args.types);
    const findWorkspace = workspaceFinder(args.names);
    const db = requireDatabase(args.db, 'stream needs --db, the database that the service uses');
    const sink = createSink({
      to: args.to,
      target: args.target,
      secretVariable: args['secret-env'],
      types,
    });
    if (sink.readCursor && args.resume !== undefined)
      throw new Error('the database keeps the cursor, so --resume is not expected');
    const store = await openForMaintenance(db);
    const { stopSignal, release } = createInterruption();
    try {
      const workspaceId = chosenWorkspace(await store.workspaceIds(), args.workspace);
      const stored = sink.readCursor ? await sink.readCursor(workspaceId) : resume.read();
      const from = stored ?? args.from ?? 'start';
      const given = from === 'start' || from === 'now' ? FEED_START : parseCursor(from);
      if (given === null) throw new Error(`expected start, now or a cursor such as 120-35-7, got "${from}"`);
      let after = from === 'now' ? await store.feedEnd() : given;
      let written = 0;
      while (!stopSignal.aborted) {
        const page = await readEvents({
          feed: store,
          findWorkspace,
          after,
          limit: sink.rows,
          workspaceId,
          types,
        });
        if (page.rows === 0 && !args.follow) break;
        if (page.rows === 0) {
          await wait(sink.pollMs, undefined, { signal: stopSignal }).catch(() => undefined);
          continue;
        }
        const { events, next } = page;
        const batch = { workspaceId, events, from: formatCursor(after), through: formatCursor(next) };
        await sink.write(batch, stopSignal);
        written += events.length;
        after = next;
        resume.write(batch.through);
      }
      process.stderr.write(`${count(written, 'event')}; cursor ${formatCursor(after)}\n`);
      stopSignal.throwIfAborted();
    } finally {
      release();
      await sink.close();
      await store.close();
    }
  },
});
