import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test, vi } from 'vitest';
import { query } from '../../../src/service/sql/dialect.ts';
import { createSendSqlite } from '../../../src/service/store/sqlite/open.ts';

test('binds repeated parameters in any order without numbers, which Node 22 cannot bind', () => {
  const database = new DatabaseSync(':memory:');
  onTestFinished(() => database.close());
  const prepare = vi.spyOn(database, 'prepare');
  const send = createSendSqlite(database);
  expect(send(query('SELECT $2 AS b, $1 AS a, $2 AS c', 1, 2)).map((row) => ({ ...row }))).toEqual([
    { b: 2, a: 1, c: 2 },
  ]);
  expect(send(query('SELECT $1 AS a, $2 AS b', 3, 4)).map((row) => ({ ...row }))).toEqual([{ a: 3, b: 4 }]);
  expect(prepare.mock.calls.flat()).toEqual(['SELECT ? AS b, ? AS a, ? AS c', 'SELECT ? AS a, ? AS b']);
});
