import { defineCommand } from 'citty';
import { forgetEvents, WHAT_IS_FORGOTTEN } from '../service/index.ts';
import { refuseUnknown } from './options.ts';
import { visitedDatabase } from './visited-database.ts';

const options = {
  db: {
    type: 'string',
    description: 'SQLite file or PostgreSQL URL (PLACARD_DB)',
    valueHint: 'FILE|postgres://…',
  },
  before: {
    type: 'string',
    description: 'UTC day; what happened before it is dropped',
    valueHint: 'YYYY-MM-DD',
  },
  yes: { type: 'boolean', description: 'Drop; without it the command only says what it would drop' },
} as const;

const dayOf = (text = ''): number => {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  // The parser takes 30 February for 2 March: more would go than was said.
  const isDay = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
  if (!isDay) throw new Error(`--before must be a day such as 2026-01-01, got "${text}"`);
  return ms;
};

/** `placard drop-partitions`: lets old events go, and says first what is forgotten with them. */
export const dropPartitions = defineCommand({
  meta: {
    name: 'drop-partitions',
    description: 'Drop events, purchases and banner events from before a day.',
  },
  args: options,
  run: async ({ args }) => {
    refuseUnknown(args, options);
    const db = visitedDatabase(args.db, 'drop-partitions needs --db, the database that the service uses');
    const dryRun = args.yes !== true;
    const forgotten = await forgetEvents(db, dayOf(args.before), { dryRun });
    if (forgotten.every(({ rows }) => rows === 0)) {
      process.stdout.write(`Nothing is there from before ${args.before}.\n`);
      return;
    }
    for (const { partition, rows, isAbout } of forgotten) {
      const verb = dryRun ? 'would drop' : 'dropped';
      process.stdout.write(`${verb} ${isAbout ? 'about ' : ''}${rows} rows of ${partition}\n`);
    }
    process.stdout.write(`${WHAT_IS_FORGOTTEN}\n`);
    if (dryRun) process.stdout.write('Nothing was dropped; say --yes to do it.\n');
  },
});
