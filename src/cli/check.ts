import { defineCommand } from 'citty';
import { loadWorkspaces, type Registry, WorkspaceError } from '../service/index.ts';
import { count } from './count.ts';
import { refuseUnknown } from './options.ts';

const options = {
  file: { type: 'positional', description: 'Workspace file, or a folder of them', required: false },
  workspace: { type: 'string', description: 'The same, as serve takes it', valueHint: 'FILE|FOLDER' },
  strict: { type: 'boolean', description: 'Fail on warnings too' },
} as const;

/** Prints what can be served, and what in it cannot be meant. Returns how many warnings there were. */
const report = ({ workspaces }: Registry): number => {
  for (const { workspaceId, campaigns, apiKeys, warnings } of workspaces) {
    for (const warning of warnings) process.stderr.write(`${workspaceId}: warning: ${warning}\n`);
    const found = warnings.length === 0 ? 'no problem' : count(warnings.length, 'warning');
    process.stdout.write(
      `${workspaceId}: ${count(campaigns.length, 'campaign')}, ${count(apiKeys.length, 'key')}, ${found}\n`,
    );
  }
  return workspaces.reduce((sum, { warnings }) => sum + warnings.length, 0);
};

/** `placard check`: says whether a workspace file can be served, and why not. */
export const check = defineCommand({
  meta: { name: 'check', description: 'Check a workspace file.' },
  args: options,
  run: ({ args }) => {
    refuseUnknown(args, options);
    const path = args.file ?? args.workspace ?? process.env['PLACARD_WORKSPACE'];
    if (path === undefined) throw new Error('check needs a workspace file: placard check workspace.json');
    let warnings: number;
    try {
      warnings = report(loadWorkspaces(path));
    } catch (error) {
      if (!(error instanceof WorkspaceError)) throw error;
      for (const problem of error.problems) process.stderr.write(`${error.source}: ${problem}\n`);
      const more = error.isComplete ? '' : '; fix them and check again, there may be more';
      throw new Error(`${error.source} has ${count(error.problems.length, 'problem')}${more}`);
    }
    if (args.strict && warnings > 0) throw new Error(`${path} has ${count(warnings, 'warning')}`);
  },
});
