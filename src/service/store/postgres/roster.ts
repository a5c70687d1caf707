import type { Replica, Roster } from '../store.ts';
import type { Run } from './statement.ts';

/** Who has not been heard of so long is gone, by the database's clock; after an hour its row goes too. */
const GONE = "now() - interval '5 seconds'";
const FORGOTTEN = "now() - interval '1 hour'";

const ANNOUNCE = `WITH announced AS (
    INSERT INTO replicas (replica_id, url, token, machine, format, seen_at) VALUES ($1, $2, $3, $4, $5, now())
    ON CONFLICT (replica_id) DO UPDATE SET seen_at = excluded.seen_at
  ), forgotten AS (
    DELETE FROM replicas WHERE seen_at < ${FORGOTTEN} AND replica_id <> $1
  )
  SELECT replica_id AS id, url, token, machine, format FROM replicas WHERE seen_at > ${GONE}`;

/** Keeps the replicas of the database in a table, where each says again and again that it is there. */
export const createRoster = (run: Run): Roster => ({
  announce: ({ id, url, token, machine, format }) =>
    run<Replica>(ANNOUNCE, [id, url, token, machine, format]),
  async leave(id) {
    await run('DELETE FROM replicas WHERE replica_id = $1', [id]);
  },
});
