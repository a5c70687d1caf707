import { setTimeout as wait } from 'node:timers/promises';
import { defineCommand } from 'citty';
import type { JobSyncStatus, RestClient } from '../server/index.ts';
import { apiOptions, createClient } from './api-options.ts';
import { chosenWorkspace, dbOption, requireDatabase } from './database.ts';
import { count } from './sentence.ts';
import { writeLine } from './stdout.ts';

const options = {
  action: {
    type: 'positional',
    description: 'sync | runs | rejects; without one, the list',
    required: false,
  },
  id: { type: 'positional', description: 'ID of the integration', required: false },
  ...apiOptions,
  wait: { type: 'boolean', description: 'Wait for the end of the run (sync)' },
  db: { ...dbOption, description: `${dbOption.description} (rejects)` },
  workspace: {
    type: 'string',
    description: 'Workspace ID; needed if there are several (rejects)',
    valueHint: 'ID',
  },
  csv: { type: 'boolean', description: 'Write CSV in place of NDJSON (rejects)' },
} as const;

const ACTIONS = ['sync', 'runs', 'rejects'];
const POLL_MS = 500;
/** Maximum rejects read at once. */
const PAGE = 500;

const newestRun = async (client: RestClient, id: string): Promise<JobSyncStatus | undefined> => {
  for await (const run of client.integrationRuns(id)) return run;
  return undefined;
};

const formatCounts = ({ job_status, rows_synced, rows_failed_with_errors }: JobSyncStatus): string =>
  `${job_status}: ${count(rows_synced, 'row')} stored, ${rows_failed_with_errors.toLocaleString('en-US')} rejected`;

/** Requests a run. With `isPatient`, waits for the end of the run and throws unless it succeeded. */
const sync = async (client: RestClient, id: string, isPatient: boolean): Promise<void> => {
  const before = isPatient ? await newestRun(client, id) : undefined;
  await client.syncIntegration(id);
  if (!isPatient) return writeLine(`${id}: a run is queued`);
  const { isTTY } = process.stderr;
  for (;;) {
    await wait(POLL_MS);
    const run = await newestRun(client, id);
    if (!run || run.sync_start_time === before?.sync_start_time) continue;
    if (isTTY) process.stderr.write(`\r\u001b[K${formatCounts(run)}`);
    if (run.sync_finish_time === '') continue;
    if (isTTY) process.stderr.write('\r\u001b[K');
    await writeLine(`${id}: ${formatCounts(run)}`);
    if (run.job_status !== 'Success') {
      const rejects =
        run.rows_failed_with_errors > 0 ? ` (placard integrations rejects ${id} lists the rows)` : '';
      const reason = run.message === '' ? '' : `: ${run.message}`;
      throw new Error(`the run of ${id} ended as ${run.job_status}${reason}${rejects}`);
    }
    return;
  }
};

const CSV_COLUMNS = ['key', 'updated_at', 'reason', 'rejected_at', 'payload'] as const;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a terminal runs
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;
/** Writes rejects from the database. The API does not return rejects, because they contain user data from the source. */
const writeRejects = async (db: string, asked: string | undefined, id: string, isCsv: boolean) => {
  // Loads the service lazily, because the other actions call the API and do not need it.
  const { formatCsvCell, stampText, openForMaintenance } = await import('../service/index.ts');
  const cell = (value: string | null) => formatCsvCell((value ?? '').replace(CONTROL, '\ufffd'));
  const { ingestion, workspaceIds, close } = await openForMaintenance(db);
  try {
    const workspaceId = chosenWorkspace(await workspaceIds(), asked) ?? '';
    if (isCsv) await writeLine(CSV_COLUMNS.join(','));
    for (let after = ''; ; ) {
      const page = await ingestion.rejects(workspaceId, id, { after, limit: PAGE });
      for (const { key, updatedAtUs, reason, rejectedAtMs, payload } of page) {
        const row = {
          key,
          updated_at: updatedAtUs === null ? null : stampText(updatedAtUs),
          reason,
          rejected_at: new Date(rejectedAtMs).toISOString(),
          payload,
        };
        await writeLine(isCsv ? CSV_COLUMNS.map((name) => cell(row[name])).join(',') : JSON.stringify(row));
      }
      const last = page.at(-1);
      if (!last) return;
      after = last.rejectId;
    }
  } finally {
    await close();
  }
};

/** `placard integrations`: lists integrations, shows runs and rejects, and starts a run on demand. */
export const integrations = defineCommand({
  meta: {
    name: 'integrations',
    description: 'List the data-ingestion integrations, their runs and rejects, or run one.',
  },
  args: options,
  run: async ({ args }) => {
    const { action, id } = args;
    if (action === undefined) {
      for await (const integration of createClient(args).integrations()) {
        await writeLine(JSON.stringify(integration));
      }
      return;
    }
    if (!ACTIONS.includes(action)) throw new Error(`specify one of ${ACTIONS.join(', ')}, got "${action}"`);
    if (id === undefined) throw new Error(`name the integration: placard integrations ${action} ID`);
    if (action === 'sync') await sync(createClient(args), id, args.wait === true);
    else if (action === 'rejects') {
      const db = requireDatabase(args.db, 'rejects needs --db, the database that the service uses');
      await writeRejects(db, args.workspace, id, args.csv === true);
    } else {
      for await (const run of createClient(args).integrationRuns(id)) await writeLine(JSON.stringify(run));
    }
  },
});
