import { defineCommand } from 'citty';
import { loadWorkspaces, WorkspaceError } from '../service/index.ts';
import { refuseUnknown } from './options.ts';

const options = {
  file: { type: 'positional', description: 'Workspace file, or a folder of them', required: false },
  workspace: { type: 'string', description: 'The same, as serve takes it', valueHint: 'FILE|FOLDER' },
} as const;

/** `placard check`: says whether a workspace file can be served, and why not. */
export const check = defineCommand({
  meta: { name: 'check', description: 'Check a workspace file.' },
  args: options,
  run: ({ args }) => {
    refuseUnknown(args, options);
    const path = args.file ?? args.workspace ?? process.env['PLACARD_WORKSPACE'];
    if (path === undefined) throw new Error('check needs a workspace file: placard check workspace.json');
    try {
      const { workspaces } = loadWorkspaces(path);
      for (const { workspaceId, campaigns, apiKeys } of workspaces) {
        process.stdout.write(
          `${workspaceId}: ${campaigns.length} campaigns, ${apiKeys.length} keys, no problem\n`,
        );
      }
    } catch (error) {
      if (!(error instanceof WorkspaceError)) throw error;
      for (const problem of error.problems) process.stderr.write(`${error.source}: ${problem}\n`);
      const count = error.problems.length;
      const known = count === 1 ? 'one problem' : `${count} problems`;
      const more = error.isComplete ? '' : ', and more is checked once that is mended';
      throw new Error(`${error.source} has ${known}${more}`);
    }
  },
});
