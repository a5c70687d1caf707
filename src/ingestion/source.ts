import type { Source } from '../service/index.ts';
import { distinctRows } from './distinct-rows.ts';
import { openFiles } from './files/open-files.ts';
import { openPostgres } from './postgres.ts';
import type { Snapshot, SnapshotQuery } from './snapshot.ts';

/** Connects to a source. Throws if it is unavailable or a column is missing. */
export const openSource = async (source: Source, query: SnapshotQuery): Promise<Snapshot> => {
  const snapshot = await (source.kind === 'postgres'
    ? openPostgres(source, query)
    : openFiles(source, query));
  return {
    ...snapshot,
    rows: () => distinctRows(snapshot.rows()),
    retryRows: () => distinctRows(snapshot.retryRows()),
  };
};
