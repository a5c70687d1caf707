import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { CONNECT_MS, toConnectionString } from './connect.ts';

const SHARED =
  'The URL leads to a connection pooler in transaction or statement mode, where a session belongs to several clients: set its pool mode to session, or connect to PostgreSQL directly';

const BACKEND = 'SELECT pg_backend_pid() AS value';
const MARK = "SELECT set_config('placard.session', $1, false) AS value";
const MARKED = "SELECT coalesce(current_setting('placard.session', true), '') AS value";
/** Number of checks, because during a check another client of the pooler may take the shared connection. */
const ROUNDS = 5;

/** Sends each statement unnamed, because a pooler may prepare and run a named statement on different connections. */
const read = async (client: Client, text: string, values: string[] = []): Promise<unknown> =>
  (await client.query<{ value: unknown }>(text, values)).rows[0]?.value;

/** Whether the process ID belongs to the connected backend. A pooler returns an invented ID. */
const isDirect = async (client: Client & { processID?: number | null }): Promise<boolean> =>
  (await read(client, BACKEND)) === client.processID;

const isShared = async (one: Client, other: Client): Promise<boolean> => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const mark = randomUUID();
    await read(one, MARK, [mark]);
    const [others, own] = [await read(other, MARKED), await read(one, MARKED)];
    await read(one, MARK, ['']);
    if (others === mark || own !== mark) return true;
  }
  return false;
};

/**
 * Throws if another client can get the session of a connection. Our settings would leak to that client, and our commits would use
 * the client's `synchronous_commit`.
 */
export const requireOwnSession = async (url: string): Promise<void> => {
  const clients: Client[] = [];
  const open = async () => {
    const client = new Client({
      connectionString: toConnectionString(url),
      fallback_application_name: 'placard',
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: CONNECT_MS,
    });
    clients.push(client);
    // The statement rejects on its own. An `error` event without a listener would end the process.
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };
  try {
    const one = await open();
    if (await isDirect(one)) return;
    if (await isShared(one, await open())) throw new Error(SHARED);
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
  }
};
