import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { defineCommand } from 'citty';
import {
  EXPORT_KINDS,
  type ExportKind,
  exportLines,
  openStoreReader,
  type StoreReader,
} from '../service/index.ts';
import { visitedDatabase } from './database.ts';
import { refuseUnknown } from './options.ts';

const options = {
  kind: { type: 'positional', description: EXPORT_KINDS.join(' | '), required: false },
  db: {
    type: 'string',
    description: 'SQLite file or PostgreSQL URL (PLACARD_DB)',
    valueHint: 'FILE|postgres://…',
  },
  workspace: { type: 'string', description: 'Workspace ID; needed where there are several', valueHint: 'ID' },
} as const;

const isKind = (word: string | undefined): word is ExportKind =>
  (EXPORT_KINDS as readonly (string | undefined)[]).includes(word);

const workspaceOf = async (reader: StoreReader, asked: string | undefined): Promise<string | undefined> => {
  const known = await reader.workspaceIds();
  if (asked !== undefined) {
    if (known.length > 0 && !known.includes(asked)) {
      throw new Error(`the database holds nothing of workspace "${asked}"; it holds ${known.join(', ')}`);
    }
    return asked;
  }
  if (known.length > 1) {
    throw new Error(`the database holds several workspaces (${known.join(', ')}); name one with --workspace`);
  }
  return known[0];
};

/** Writes one JSON object a line, as fast as the reader of `out` takes them. */
const writeLines = async (lines: AsyncIterable<unknown>, out: Writable): Promise<void> => {
  for await (const line of lines) {
    if (!out.write(`${JSON.stringify(line)}\n`)) await once(out, 'drain');
  }
};

/** `placard export`: everything of one kind as NDJSON, while the service runs. */
export const exportData = defineCommand({
  meta: { name: 'export', description: 'Write users, events, banner events or data points as NDJSON.' },
  args: options,
  run: async ({ args }) => {
    refuseUnknown(args, options);
    const { kind } = args;
    if (!isKind(kind)) {
      const got = kind === undefined ? '' : `, got "${kind}"`;
      throw new Error(`export needs one of ${EXPORT_KINDS.join(', ')}${got}`);
    }
    const db = visitedDatabase(args.db, 'export needs --db, the database that the service uses');
    const reader = await openStoreReader(db);
    try {
      const workspaceId = await workspaceOf(reader, args.workspace);
      if (workspaceId !== undefined) await writeLines(exportLines(reader, kind, workspaceId), process.stdout);
    } finally {
      await reader.close();
    }
  },
});
