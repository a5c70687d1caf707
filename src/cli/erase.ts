import { defineCommand } from 'citty';
import { apiOptions, createClient } from './api-options.ts';
import { count } from './sentence.ts';

const options = {
  'external-id': {
    type: 'string',
    description: 'External IDs, separated by commas',
    valueHint: 'u-771',
  },
  ...apiOptions,
} as const;

/** `placard erase`: erases users through a running service, with the semantics of `/users/delete`. */
export const erase = defineCommand({
  meta: { name: 'erase', description: 'Erase users and all their data.' },
  args: options,
  run: async ({ args }) => {
    const externalIds = (args['external-id'] ?? '').split(',').filter((id) => id !== '');
    if (externalIds.length === 0) throw new Error('erase needs a user: placard erase --external-id u-771');
    const deleted = await createClient(args).deleteUsers({ external_ids: externalIds });
    process.stdout.write(
      `erased ${deleted} of ${count(externalIds.length, 'user')}. placard prune --vacuum removes what is left of them in the database's files; backups still have them.\n`,
    );
  },
});
