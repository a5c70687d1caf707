import { defineCommand } from 'citty';
import {
  formatIssue,
  isTooLow,
  loadWorkspaces,
  openStoreReader,
  type Registry,
  WorkspaceError,
} from '../service/index.ts';
import { dbOption, requireDatabase } from './database.ts';
import { count, formatError } from './sentence.ts';

const options = {
  file: { type: 'positional', description: 'Workspace file, or a folder of them', required: false },
  workspace: { type: 'string', description: 'The same, as an option', valueHint: 'FILE|FOLDER' },
  strict: { type: 'boolean', description: 'Fail on warnings too' },
  sources: { type: 'boolean', description: 'Show the first rows of each source and their objects' },
  'verify-results': {
    type: 'boolean',
    description: 'Compare the results of campaigns in a database with its events',
  },
  db: { ...dbOption, description: `With --verify-results: ${dbOption.description}` },
} as const;

/** Prints a summary of the workspaces and their warnings. Returns the number of warnings. */
const report = ({ workspaces }: Registry): number => {
  for (const { workspaceId, campaigns, apiKeys, warnings } of workspaces) {
    for (const warning of warnings)
      process.stderr.write(`${workspaceId}: warning: ${formatIssue(warning)}\n`);
    const found = warnings.length === 0 ? 'no problem' : count(warnings.length, 'warning');
    process.stdout.write(
      `${workspaceId}: ${count(campaigns.length, 'campaign')}, ${count(apiKeys.length, 'key')}, ${found}\n`,
    );
  }
  return workspaces.reduce((sum, { warnings }) => sum + warnings.length, 0);
};

/** Reads every source and prints its problems. Throws if a source is unreadable or has an invalid row. */
const trySources = async ({ workspaces }: Registry): Promise<void> => {
  const { checkSource } = await import('../ingestion/index.ts');
  let wrong = 0;
  for (const workspace of workspaces) {
    for (const { record, source } of workspace.integrations ?? []) {
      if (source === null) continue;
      const name = `${workspace.workspaceId}: ${record.integration_id}`;
      try {
        const rows = await checkSource(workspace, source);
        if (rows.length === 0) process.stdout.write(`${name}: readable, no rows\n`);
        for (const { object, problem } of rows) {
          if (problem !== null) wrong += 1;
          process.stdout.write(
            `${name}: ${JSON.stringify(object)}${problem === null ? '' : ` – ${problem}`}\n`,
          );
        }
      } catch (error) {
        wrong += 1;
        process.stderr.write(`${name}: ${formatError(error)}\n`);
      }
    }
  }
  if (wrong > 0) throw new Error(`${count(wrong, 'problem')} with sources`);
};

/** Verifies the counts of every campaign. Throws if a count is certainly wrong. */
const verifyAll = async (db: string): Promise<void> => {
  const reader = await openStoreReader(db);
  let low = 0;
  try {
    for (const workspaceId of await reader.workspaceIds()) {
      const differences = await reader.verifyResults(workspaceId);
      for (const { campaignId, variantId, dimension, stored, counted } of differences)
        process.stdout.write(
          `${workspaceId}: ${campaignId}, ${variantId ?? 'control group'}, ${dimension || 'all'}: stored ${stored.join(', ')}, counted ${counted.join(', ')}\n`,
        );
      low += differences.filter(isTooLow).length;
      process.stdout.write(`${workspaceId}: ${count(differences.length, 'difference')}\n`);
    }
  } finally {
    await reader.close();
  }
  if (low > 0) throw new Error(`${count(low, 'count')} of campaigns are lower than their events`);
};

/** `placard check`: validates workspace files. */
export const check = defineCommand({
  meta: { name: 'check', description: 'Check a workspace file, or the results in a database.' },
  args: options,
  run: async ({ args }) => {
    if (args['verify-results']) {
      await verifyAll(
        requireDatabase(args.db, 'check --verify-results needs --db, the database that the service uses'),
      );
      return;
    }
    const path = args.file ?? args.workspace ?? process.env['PLACARD_WORKSPACE'];
    if (path === undefined) throw new Error('check needs a workspace file: placard check workspace.json');
    let warnings: number;
    let registry: Registry;
    try {
      registry = loadWorkspaces(path);
      warnings = report(registry);
    } catch (error) {
      if (!(error instanceof WorkspaceError)) throw error;
      for (const issue of error.issues) process.stderr.write(`${error.source}: ${formatIssue(issue)}\n`);
      const more = error.isComplete ? '' : '; fix them and check again, there may be more';
      throw new Error(`${error.source} has ${count(error.issues.length, 'problem')}${more}`);
    }
    if (args.sources) await trySources(registry);
    if (args.strict && warnings > 0) throw new Error(`${path} has ${count(warnings, 'warning')}`);
  },
});
