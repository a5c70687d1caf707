import { defineCommand } from 'citty';
import { EXPORT_KINDS, type ExportKind, exportLines, openStoreReader } from '../service/index.ts';
import { chosenWorkspace, dbOption, requireDatabase } from './database.ts';
import { writeLine } from './stdout.ts';

const options = {
  kind: { type: 'positional', description: EXPORT_KINDS.join(' | '), required: false },
  db: dbOption,
  workspace: { type: 'string', description: 'Workspace ID; needed if there are several', valueHint: 'ID' },
} as const;

const isKind = (word: string | undefined): word is ExportKind => EXPORT_KINDS.some((kind) => kind === word);

/** `placard export`: exports all records of one kind as NDJSON while the service runs. */
export const exportData = defineCommand({
  meta: { name: 'export', description: 'Write users, events, banner events or data points as NDJSON.' },
  args: options,
  run: async ({ args }) => {
    const { kind } = args;
    if (!isKind(kind)) {
      const got = kind === undefined ? '' : `, got "${kind}"`;
      throw new Error(`export needs one of ${EXPORT_KINDS.join(', ')}${got}`);
    }
    const db = requireDatabase(args.db, 'export needs --db, the database that the service uses');
    const reader = await openStoreReader(db);
    try {
      const workspaceId = chosenWorkspace(await reader.workspaceIds(), args.workspace);
      if (workspaceId === undefined) return;
      for await (const line of exportLines(reader, kind, workspaceId)) await writeLine(JSON.stringify(line));
    } finally {
      await reader.close();
    }
  },
});
