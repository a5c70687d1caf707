import { userInfo } from 'node:os';
import { defineCommand } from 'citty';
import { loadWorkspaces, openForMaintenance, type Workspace } from '../service/index.ts';
import { pullCampaigns, pushCampaigns } from '../studio/index.ts';
import { dbOption, requireDatabase } from './database.ts';

const options = {
  action: { type: 'positional', description: 'pull | push | log', required: true },
  folder: { type: 'positional', description: 'Folder with a JSON file for each campaign', required: false },
  workspace: {
    type: 'string',
    description: 'Workspace file (PLACARD_WORKSPACE)',
    valueHint: 'FILE',
  },
  db: dbOption,
  note: { type: 'string', description: 'Note for the history (push)', valueHint: 'TEXT' },
  author: {
    type: 'string',
    description: 'Author; default the current account (push)',
    valueHint: 'NAME',
  },
  force: { type: 'boolean', description: 'Publish over newer releases (push)' },
} as const;

const LOG_LINES = 50;
const ACTIONS = ['pull', 'push', 'log'];

const readWorkspace = (path: string | undefined): Workspace => {
  const file = path ?? process.env['PLACARD_WORKSPACE'];
  if (!file) throw new Error('specify --workspace, the workspace file');
  const [workspace, other] = loadWorkspaces(file).workspaces;
  if (!workspace || other)
    throw new Error('specify one workspace file with --workspace, not a folder of them');
  if (workspace.campaignsFrom === 'studio') return workspace;
  throw new Error(`${file} says "campaigns_from": "file": its campaigns are in the file itself`);
};

/** `placard campaigns`: exports Studio releases to a folder, for version control and other environments. */
export const campaigns = defineCommand({
  meta: { name: 'campaigns', description: "Mirror the Studio's campaigns in a folder." },
  args: options,
  run: async ({ args }) => {
    const { action, folder = 'campaigns' } = args;
    if (!ACTIONS.includes(action)) throw new Error(`specify one of ${ACTIONS.join(', ')}, got "${action}"`);
    const workspace = readWorkspace(args.workspace);
    const db = requireDatabase(args.db, 'specify --db, the database that the service uses');
    const { studio, close } = await openForMaintenance(db);
    const mirror = { workspace, studio, folder, nowMs: Date.now() };
    const say = (line: string) => process.stdout.write(`${line}\n`);
    try {
      if (action === 'pull') say(`${await pullCampaigns(mirror)} campaigns are in ${folder}`);
      if (action === 'log') {
        const releases = await studio.releases(workspace.workspaceId, { limit: LOG_LINES });
        for (const { release, subjectId, author, note, liveAtMs } of releases) {
          say([release, new Date(liveAtMs).toISOString(), subjectId, author, note].join('  ').trimEnd());
        }
      }
      if (action !== 'push') return;
      const { author = userInfo().username, note = '', force = false } = args;
      const { released, conflicts } = await pushCampaigns({ ...mirror, author, note, force });
      for (const { id, release } of released) say(`${id}: release ${release}`);
      if (conflicts.length === 0) {
        if (released.length === 0) say('No changes to publish.');
        return;
      }
      const words = conflicts.map((each) => `${each.id} (release ${each.release} by ${each.author})`);
      throw new Error(
        `published in the meantime: ${words.join(', ')}; pull into another folder and compare, or pass --force`,
      );
    } finally {
      await close();
    }
  },
});
