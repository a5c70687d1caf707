import { closeSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createCheckpointer } from '../../../src/service/store/sqlite/checkpointer.ts';
import { prepareForWriting } from '../../../src/service/store/sqlite/writer.ts';

let folder: string;
let file: string;
let database: DatabaseSync;
let fileDescriptor: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'placard-checkpointer-'));
  file = join(folder, 'a.db');
  database = new DatabaseSync(file);
  prepareForWriting(database);
  database.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)');
  fileDescriptor = openSync(file, 'r+');
});
afterEach(() => {
  if (database.isOpen) database.close();
  closeSync(fileDescriptor);
  rmSync(folder, { recursive: true });
});

/** How often the log has started anew: a number in the header of its file. */
const logNumber = () => {
  const header = Buffer.alloc(32);
  const log = openSync(`${file}-wal`, 'r');
  readSync(log, header);
  closeSync(log);
  return header.readUInt32BE(12);
};

const write = (count: number) => {
  const insert = database.prepare('INSERT INTO notes (text) VALUES (?)');
  database.exec('BEGIN');
  for (let i = 0; i < count; i += 1) insert.run('x'.repeat(4_000));
  database.exec('COMMIT');
};

const rowsIn = (path: string) => {
  const copy = new DatabaseSync(path, { readOnly: true });
  try {
    return Number(copy.prepare('SELECT count(*) AS rows FROM notes').get()?.['rows']);
  } finally {
    copy.close();
  }
};

describe('the log of a SQLite file', () => {
  test('starts anew while the writer goes on, and no row is missing', async () => {
    const checkpointer = createCheckpointer(database, { file, fileDescriptor }, 0);
    const start = logNumber();
    let groups = 0;
    while (logNumber() < start + 3) {
      write(50);
      groups += 1;
      checkpointer.committed();
      await nextTurn();
    }
    await checkpointer.close();
    expect(rowsIn(file)).toBe(groups * 50);
    expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  });

  test('is left alone until its time has come', async () => {
    const checkpointer = createCheckpointer(database, { file, fileDescriptor }, Number.POSITIVE_INFINITY);
    const start = logNumber();
    for (let group = 0; group < 20; group += 1) {
      write(50);
      checkpointer.committed();
    }
    await checkpointer.close();
    expect(logNumber()).toBe(start);
  });

  test('keeps what could not be moved, and the writer goes on', async () => {
    const checkpointer = createCheckpointer(database, { file, fileDescriptor: 1_000_000 }, 0);
    for (let group = 0; group < 20; group += 1) {
      write(50);
      checkpointer.committed();
      await nextTurn();
    }
    await checkpointer.close();
    expect(rowsIn(file)).toBe(1_000);
  });
});
