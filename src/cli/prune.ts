import { defineCommand } from 'citty';
import { pruneStore, vacuumStore } from '../service/index.ts';
import { dbOption, requireDatabase } from './database.ts';

const options = {
  db: dbOption,
  before: {
    type: 'string',
    description: 'UTC day; earlier events are deleted',
    valueHint: 'YYYY-MM-DD',
  },
  yes: { type: 'boolean', description: 'Delete; without it nothing is deleted' },
  vacuum: {
    type: 'boolean',
    description: 'Rebuild the tables to free disk space; stop a service on a SQLite file first',
  },
} as const;

const parseDayMs = (text: string): number => {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  // `Date.parse` accepts 30 February as 2 March, so the command would delete more than requested.
  const isDay = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
  if (!isDay) throw new Error(`--before must be a day such as 2026-01-01, got "${text}"`);
  return ms;
};

/** `placard prune`: deletes old events and reclaims their disk space. */
export const prune = defineCommand({
  meta: { name: 'prune', description: 'Delete events, purchases and banner events from before a day.' },
  args: options,
  run: async ({ args }) => {
    const db = requireDatabase(args.db, 'prune needs --db, the database that the service uses');
    if (args.before === undefined && !args.vacuum) throw new Error('prune needs --before, --vacuum or both');
    if (args.before !== undefined) {
      const beforeMs = parseDayMs(args.before);
      if (!args.yes) {
        process.stdout.write(
          `prune --before ${args.before} deletes permanently. Goals lose earlier conversions. Profiles, results and frequency caps keep their counts. Re-run with --yes.\n`,
        );
        return;
      }
      let events = 0;
      let bannerEvents = 0;
      for await (const step of pruneStore(db, beforeMs)) {
        events += step.events;
        bannerEvents += step.bannerEvents;
      }
      process.stdout.write(`deleted events and purchases: ${events}, banner events: ${bannerEvents}\n`);
    }
    if (args.vacuum) {
      await vacuumStore(db);
      process.stdout.write('vacuum complete\n');
    }
  },
});
