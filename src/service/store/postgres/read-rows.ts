import type { Pool } from 'pg';
import { takeConnection } from './take-connection.ts';

/** Rows held at once. */
const PAGE = 500;

/** The rows of a query as they were when the first was read. A caller that stops reading gives the connection back. */
export async function* readRows<Row extends object = Record<string, unknown>>(
  pool: Pool,
  text: string,
  values: string[],
): AsyncGenerator<Row, void> {
  const client = await takeConnection(pool);
  let isWhole = false;
  try {
    await client.query('BEGIN READ ONLY');
    await client.query(`DECLARE page NO SCROLL CURSOR FOR ${text}`, values);
    for (;;) {
      const { rows } = await client.query<Row>(`FETCH ${PAGE} FROM page`);
      if (rows.length === 0) break;
      yield* rows;
    }
    await client.query('COMMIT');
    isWhole = true;
  } finally {
    client.release(!isWhole);
  }
}
