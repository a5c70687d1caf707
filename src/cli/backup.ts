import { defineCommand } from 'citty';
import { backupStore } from '../service/index.ts';
import { requireDatabase } from './database.ts';
import { createInterruption, InterruptedError } from './exit.ts';

const options = {
  db: { type: 'string', description: 'SQLite file that the service uses (PLACARD_DB)', valueHint: 'FILE' },
  to: { type: 'string', description: 'File to write; it must not exist', valueHint: 'FILE' },
} as const;

/** `placard backup`: copies the SQLite file while the service runs. */
export const backup = defineCommand({
  meta: { name: 'backup', description: 'Copy the SQLite file while the service runs.' },
  args: options,
  run: async ({ args }) => {
    const db = requireDatabase(args.db, 'backup needs --db, the SQLite file that the service uses');
    if (!args.to) throw new Error('backup needs --to, the file to write');
    const { stopSignal, release } = createInterruption();
    try {
      await backupStore(db, args.to, { signal: stopSignal });
    } catch (error) {
      release();
      // Ends the process with the signal, because the process would wait for the copying thread, which receives no signals.
      if (error instanceof InterruptedError) process.kill(process.pid, error.signal);
      throw error;
    }
    release();
    process.stdout.write(`${args.to} is a copy of ${db}\n`);
  },
});
