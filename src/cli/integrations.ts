import { defineCommand } from 'citty';
import { apiOptions, restClientOf } from './api-options.ts';
import { refuseUnknown } from './options.ts';

/** `placard integrations`: every data-ingestion integration as NDJSON. */
export const integrations = defineCommand({
  meta: { name: 'integrations', description: 'List the data-ingestion integrations as NDJSON.' },
  args: apiOptions,
  run: async ({ args }) => {
    refuseUnknown(args, apiOptions);
    for await (const integration of restClientOf(args).integrations()) {
      process.stdout.write(`${JSON.stringify(integration)}\n`);
    }
  },
});
