import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { inTransaction } from '../../../src/service/store/sqlite/open.ts';

const aDatabase = () => {
  const database = new DatabaseSync(':memory:');
  onTestFinished(() => database.close());
  database.exec('CREATE TABLE users (user_id INTEGER PRIMARY KEY)');
  const insert = (conflict: 'ABORT' | 'ROLLBACK') =>
    database.exec(`INSERT OR ${conflict} INTO users VALUES (1)`);
  const count = () => database.prepare('SELECT count(*) AS users FROM users').get()?.['users'];
  return { database, insert, count };
};

// `ROLLBACK` ends the transaction itself, as SQLite does on a full disk.
test.each(['ABORT', 'ROLLBACK'] as const)(
  'stores nothing after an error with %s, throws this error, and accepts the next transaction',
  (conflict) => {
    const { database, insert, count } = aDatabase();
    const insertTwice = () => {
      insert('ABORT');
      insert(conflict);
    };
    expect(() => inTransaction(database, insertTwice)).toThrow('UNIQUE constraint failed');
    expect(count()).toBe(0);
    inTransaction(database, () => insert('ABORT'));
    expect(count()).toBe(1);
  },
);
