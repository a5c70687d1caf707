import { Client } from 'pg';
import { openStore } from '../../../src/service/store/index.ts';

const PROFILE = JSON.stringify({
  first_name: 'Katarzyna',
  country: 'PL',
  custom_attributes: { tier: 'gold', visits: 12, newsletter: true },
});
const EXTERNAL_ID = "'user-' || lpad((user_id - 1)::text, 8, '0')";

/** Inserts `count` users into a new PostgreSQL database. */
export const fillPostgresWithUsers = async (url: string, count: number): Promise<void> => {
  await (await openStore(url)).close();
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(
      `INSERT INTO users (user_id, workspace_id, external_id, profile, version, created_at, updated_at)
       SELECT user_id, 'bench', ${EXTERNAL_ID}, $1, 1, now(), now() FROM generate_series(1, $2::bigint) AS user_id`,
      [PROFILE, count],
    );
    await client.query(
      `INSERT INTO user_identifiers (workspace_id, identifier, user_id)
       SELECT 'bench', 'external_id:' || ${EXTERNAL_ID}, user_id FROM generate_series(1, $1::bigint) AS user_id`,
      [count],
    );
    await client.query('VACUUM ANALYZE');
  } finally {
    await client.end();
  }
};
