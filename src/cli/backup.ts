import { defineCommand } from 'citty';
import { backupStore } from '../service/index.ts';
import { refuseUnknown } from './options.ts';

const options = {
  db: { type: 'string', description: 'SQLite file that the service uses (PLACARD_DB)', valueHint: 'FILE' },
  to: { type: 'string', description: 'File to write; it must not exist', valueHint: 'FILE' },
} as const;

/** `placard backup`: a copy of the SQLite file as it is now, while the service runs. */
export const backup = defineCommand({
  meta: { name: 'backup', description: 'Copy the SQLite file while the service runs.' },
  args: options,
  run: ({ args }) => {
    refuseUnknown(args, options);
    const db = args.db ?? process.env['PLACARD_DB'];
    if (db === undefined) throw new Error('backup needs --db, the SQLite file that the service uses');
    if (args.to === undefined) throw new Error('backup needs --to, the file to write');
    backupStore(db, args.to);
    process.stdout.write(`${args.to} is a copy of ${db}\n`);
  },
});
