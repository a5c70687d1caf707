import { stripVTControlCharacters } from 'node:util';
import { defineCommand } from 'citty';
import { apiOptions, createClient } from './api-options.ts';

/** Removes escape sequences and control characters, because they could move the cursor or break the table. */
const plain = (cell: string): string => stripVTControlCharacters(cell).replaceAll(/\p{Cc}+/gu, ' ');

/** Formats rows as lines with space-aligned columns. */
const tableLines = (rows: readonly (readonly string[])[]): string[] => {
  const cells = rows.map((row) => row.map(plain));
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
};

const options = {
  user: { type: 'string', description: 'External ID of the user', valueHint: 'u-771' },
  placement: {
    type: 'string',
    description: 'Placements, separated by commas; default all of campaigns',
    valueHint: 'home_hero',
  },
  app: { type: 'string', description: 'App ID, if the workspace has several apps', valueHint: 'ID' },
  'app-version': { type: 'string', description: 'Version of the app, for audiences that use it' },
  json: { type: 'boolean', description: 'Print the response as JSON' },
  ...apiOptions,
} as const;

/**
 * `placard explain`: lists the campaigns of a placement in order of evaluation, with the reason that the user gets each or not.
 */
export const explain = defineCommand({
  meta: { name: 'explain', description: 'Explain why a user sees a banner or none.' },
  args: options,
  run: async ({ args }) => {
    if (!args.user) throw new Error('explain needs a user: placard explain --user u-771');
    const placements = args.placement?.split(',').filter((placement) => placement !== '');
    const client = createClient(args);
    const question = {
      external_user_id: args.user,
      ...(args.app !== undefined && { app_id: args.app }),
      ...(args['app-version'] !== undefined && { app_version: args['app-version'] }),
    };
    const response = await client.explain({ ...question, ...(placements && { placements }) });
    if (args.json) {
      process.stdout.write(`${JSON.stringify(response)}\n`);
      return;
    }
    const isUnknown = Object.values(response.placements).some((campaigns) => campaigns.length === 0);
    // Without placements, the service explains all placements of campaigns.
    const { suggest } = await import('../service/index.ts');
    const placementIds = isUnknown ? Object.keys((await client.explain(question)).placements) : [];
    const lines = response.has_profile ? [] : ['The service has no profile of this user.', ''];
    for (const [placement, campaigns] of Object.entries(response.placements)) {
      const rows = campaigns.map(({ campaign_id, outcome, message: why }, index) => [
        `  ${index + 1}`,
        campaign_id,
        outcome.replaceAll('_', ' '),
        why,
      ]);
      lines.push(...tableLines([[placement]]), ...tableLines(rows));
      if (rows.length > 0) continue;
      const meant = suggest(placement, placementIds);
      lines.push(`  no campaign names this placement${meant === null ? '' : `; is "${meant}" meant?`}`);
    }
    process.stdout.write(`${lines.join('\n')}\n`);
  },
});
