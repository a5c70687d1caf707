import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createCheckpointer, MAX_LOG_PAGES } from '../../../src/service/store/sqlite/checkpointer.ts';
import { createLogRoom } from '../../../src/service/store/sqlite/log-room.ts';
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
    const checkpointer = createCheckpointer(database, { file, fileDescriptor }, { everyMs: 0 });
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
    const checkpointer = createCheckpointer(
      database,
      { file, fileDescriptor },
      { everyMs: Number.POSITIVE_INFINITY },
    );
    const start = logNumber();
    for (let group = 0; group < 20; group += 1) {
      write(50);
      checkpointer.committed();
    }
    await checkpointer.close();
    expect(logNumber()).toBe(start);
  });

  test('keeps what could not be moved, and the writer goes on', async () => {
    const checkpointer = createCheckpointer(database, { file, fileDescriptor: 1_000_000 }, { everyMs: 0 });
    for (let group = 0; group < 20; group += 1) {
      write(50);
      checkpointer.committed();
      await nextTurn();
    }
    await checkpointer.close();
    expect(rowsIn(file)).toBe(1_000);
  });

  test('is moved by the writer where the room beside it is short', async () => {
    const keepRoom = createLogRoom(database, file, () => 0);
    const never = { everyMs: Number.POSITIVE_INFINITY, keepRoom };
    const checkpointer = createCheckpointer(database, { file, fileDescriptor }, never);
    const start = logNumber();
    while (logNumber() < start + 3) {
      write(50);
      checkpointer.committed();
      await nextTurn();
    }
    await checkpointer.close();
  });
});

const logBytes = () => statSync(`${file}-wal`).size;

describe('the room of the log', () => {
  test('is no more than is free beside it, and as large as it likes where there is enough', () => {
    let freeBytes = 1_000_000;
    const keepRoom = createLogRoom(database, file, () => freeBytes);
    let largest = 0;
    for (let group = 0; group < 50; group += 1) {
      write(50);
      keepRoom();
      largest = Math.max(largest, logBytes());
    }
    expect(largest).toBeLessThan(1_500_000);
    freeBytes = Number.POSITIVE_INFINITY;
    for (let group = 0; group < 10; group += 1) {
      write(50);
      expect(keepRoom()).toBe(false);
    }
    expect(logBytes()).toBeGreaterThan(2_000_000);
    expect(rowsIn(file)).toBe(3_000);
  });

  test('is given back once a disk that was full takes what the log holds', () => {
    const keepRoom = createLogRoom(database, file, () => 0);
    for (let group = 0; group < 10; group += 1) write(50);
    const before = logBytes();
    expect(keepRoom()).toBe(true);
    write(1);
    expect(logBytes()).toBeLessThan(before / 10);
    expect(rowsIn(file)).toBe(501);
  });

  /** Runs with a disk of 8 MB in the folder's place, where the system lets us have one. */
  const [program, ...apart] = [
    'unshare',
    '-rm',
    'sh',
    '-c',
    'mount -t tmpfs -o size=8m none "$0" && exec "$@"',
  ];
  const onSmallDisk = (at: string, ...words: string[]) =>
    spawnSync(program!, [...apart, at, ...words], { encoding: 'utf8' });

  test.runIf(onSmallDisk(tmpdir(), 'true').status === 0)(
    'is enough on a disk of 8 MB for 80 MB that are written over each other',
    () => {
      const script = `
      const { DatabaseSync } = await import('node:sqlite');
      const { createLogRoom } = await import('./src/service/store/sqlite/log-room.ts');
      const { prepareForWriting } = await import('./src/service/store/sqlite/writer.ts');
      const database = new DatabaseSync(${JSON.stringify(file)});
      prepareForWriting(database);
      database.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, text BLOB)');
      const keepRoom = createLogRoom(database, ${JSON.stringify(file)});
      const write = database.prepare('INSERT OR REPLACE INTO notes VALUES (?, zeroblob(400000))');
      for (let i = 0; i < 200; i += 1) { write.run(i % 8); keepRoom(); }
      console.log('written');`;
      const { stdout, stderr } = onSmallDisk(folder, process.execPath, '--input-type=module', '-e', script);
      expect([stdout, stderr]).toEqual(['written\n', '']);
    },
  );

  test('is what docs/operate.md says it may be', () => {
    const pageBytes = Number(database.prepare('PRAGMA page_size').get()?.['page_size']);
    const mebibytes = (MAX_LOG_PAGES * pageBytes) / 2 ** 20;
    expect(readFileSync('docs/operate.md', 'utf8')).toContain(`up to ${mebibytes} MiB of its log`);
  });
});
