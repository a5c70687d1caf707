import { DatabaseSync } from 'node:sqlite';
import { type Committer, createInlineCommitter } from '../../../src/service/store/sqlite/commit.ts';
import { createKeptUsers, type KeptUsersOptions } from '../../../src/service/store/sqlite/kept-users.ts';
import { createReader, prepareForReading, type Reader } from '../../../src/service/store/sqlite/reader.ts';
import { migrate } from '../../../src/service/store/sqlite/schema.ts';
import { prepareForWriting } from '../../../src/service/store/sqlite/writer.ts';

export interface KeptOptions extends Partial<Omit<KeptUsersOptions, 'reader' | 'committer'>> {
  file?: string;
  wrapReader?(reader: Reader): Reader;
  wrapCommitter?(committer: Committer): Committer;
}

/** Users of the SQLite store without the rest of it, on a file or in memory, with one connection for everything. */
export const openKept = ({
  file = ':memory:',
  wrapReader = (reader) => reader,
  wrapCommitter = (committer) => committer,
  ...options
}: KeptOptions = {}) => {
  const database = new DatabaseSync(file);
  prepareForWriting(database);
  migrate(database, file);
  prepareForReading(database);
  const users = createKeptUsers({
    reader: wrapReader(createReader(database)),
    committer: wrapCommitter(createInlineCommitter(database)),
    register: () => undefined,
    onFailure: () => undefined,
    ...options,
  });
  return { database, users };
};
