import { Socket } from 'node:net';
import { Pool, TypeOverrides, types } from 'pg';
import { suggest } from '../../suggest.ts';
import { withTimeout } from '../../with-timeout.ts';
import { watchSyncReplication } from './statement.ts';

/** Throws if a parameter is misspelled. The driver would ignore a misspelled `sslmode` and connect without encryption. */
const rejectMisspelledParameters = (url: string): void => {
  for (const name of new URLSearchParams(/\?([^#]*)/.exec(url)?.[1]).keys()) {
    if (name !== 'sslmode' && suggest(name, ['sslmode'])) {
      throw new Error(`the URL has a parameter '${name}': write 'sslmode'`);
    }
  }
};

/**
 * Returns the URL with an `sslmode` that the driver interprets as `psql` does. By default the driver treats every mode as
 * `verify-full`. `mode` applies if the URL has none. Throws if `sslmode` is misspelled.
 */
export const normalizeSslMode = (url: string, mode: string | undefined): string => {
  rejectMisspelledParameters(url);
  const named = /[?&]sslmode=([\w-]+)/.exec(url)?.[1];
  const given = named ?? mode;
  if (given !== 'require' && given !== 'verify-ca') return url;
  const parameters = named ? 'uselibpqcompat=true' : `sslmode=${given}&uselibpqcompat=true`;
  return `${url}${url.includes('?') ? '&' : '?'}${parameters}`;
};

/** Returns the URL for the driver, with the mode of `PGSSLMODE` if it has none. */
export const toConnectionString = (url: string): string => normalizeSslMode(url, process.env['PGSSLMODE']);

/** Maximum number of connections of one replica, except connections that write users. */
const CONNECTIONS = 8;
export const CONNECT_MS = 10_000;
const KEEP_ALIVE_MS = 10_000;
/** Maximum lifetime of a connection, because the host name may later resolve to another server. */
const LIFETIME_SECONDS = 3_600;
/** Idle time after which connections are closed, because replicas share the server's connection limit. */
const IDLE_MS = 10_000;
const CLOSE_MS = 5_000;

/** Timeouts of statements. Zero disables a timeout. */
interface Limits {
  /**
   * Maximum wait for a lock. Shorter than the client's timeout, because an abandoned statement would keep waiting and hold a
   * connection.
   */
  lockMs: number;
  statementMs: number;
  /**
   * Maximum time between two statements of a transaction. If a replica hangs or disappears, it keeps its locks until the server
   * ends its session. With TCP defaults, that takes two hours.
   */
  idleInTransactionMs: number;
  /** Maximum wait for a response. If the server's machine fails, TCP alone would wait for 15 minutes. */
  queryMs: number;
}

const OF_REQUESTS: Limits = {
  lockMs: 15_000,
  statementMs: 20_000,
  idleInTransactionMs: 10_000,
  queryMs: 30_000,
};
/** Shorter lock timeout, because many mutations share a group, and one locked row must not delay the others for long. */
const OF_GROUPS: Limits = { ...OF_REQUESTS, lockMs: 4_000 };
const NONE: Limits = { lockMs: 0, statementMs: 0, idleInTransactionMs: 0, queryMs: 0 };

/**
 * Forces index scans and nested loops, and disables JIT compilation. Requests find up to a few hundred rows by key, so a
 * sequential scan is never faster, and a cached plan may date from when the table was small. Before PostgreSQL 18, a plan without
 * an alternative counts as expensive and would be JIT-compiled each time.
 */
const BY_KEYS =
  'SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off;';

/**
 * Plans each statement again. A group joins a list of any length with growing tables. A cached plan may date from when a table
 * was empty, and would later scan the table for every element of the list. The cost of planning is negligible for a group.
 */
const FORCE_CUSTOM_PLAN = 'SET plan_cache_mode = force_custom_plan;';

/**
 * A transaction that waited for a lock must see the changes that the previous transaction committed. A role or a database may
 * have another default.
 */
const READ_COMMITTED = "SET default_transaction_isolation = 'read committed';";

/** Overrides `synchronous_commit = off`, because acknowledged writes must be durable. */
const DURABLE =
  "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';";

/** If a replica's machine fails, PostgreSQL would otherwise keep its sessions for two hours. */
const KEEP_ALIVE =
  'SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3; SET tcp_user_timeout = 60000;';

const PURPOSES = {
  requests: { settings: BY_KEYS, limits: OF_REQUESTS, idleMs: IDLE_MS, pipeline: false },
  /** Never closed when idle, because a replica that can read must be able to write. */
  groups: { settings: BY_KEYS + FORCE_CUSTOM_PLAN, limits: OF_GROUPS, idleMs: 0, pipeline: true },
  /** Reads and changes whole tables without a time limit. */
  upkeep: { settings: '', limits: NONE, idleMs: IDLE_MS, pipeline: false },
};

/**
 * Types that are not parsed, because most rows are read without their JSON, and the length of the text is the size of the
 * profile.
 */
const typeParsers = new TypeOverrides();
for (const type of [types.builtins.JSON, types.builtins.JSONB])
  typeParsers.setTypeParser(type, (text: string) => text);

const ignore = () => undefined;

export interface Connections {
  pool: Pool;
  /** Closes the pools. Waits a limited time for statements in flight. */
  close(): Promise<void>;
}

/** Opens connection pools. Connections of `groups` are pipelined. */
export const connect = (
  url: string,
  purpose: keyof typeof PURPOSES,
  { connections = CONNECTIONS, limits = PURPOSES[purpose].limits, idleMs = PURPOSES[purpose].idleMs } = {},
): Connections => {
  const { settings, pipeline } = PURPOSES[purpose];
  const { lockMs, statementMs, idleInTransactionMs, queryMs } = limits;
  const sockets = new Set<Socket>();
  const stream = () => {
    const socket = new Socket();
    sockets.add(socket);
    return socket.once('close', () => sockets.delete(socket));
  };
  const pool = new Pool({
    connectionString: toConnectionString(url),
    fallback_application_name: 'placard',
    max: connections,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: queryMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    idleTimeoutMillis: idleMs,
    maxLifetimeSeconds: LIFETIME_SECONDS,
    pipeline,
    types: typeParsers,
    stream,
    onConnect: async (client) => {
      // A statement in flight rejects on its own. An `error` event without a listener would end the process.
      client.on('error', ignore);
      watchSyncReplication(client);
      await client.query(
        `${settings} ${READ_COMMITTED} ${DURABLE} ${KEEP_ALIVE} SET lock_timeout = ${lockMs}; SET statement_timeout = ${statementMs};
         SET idle_in_transaction_session_timeout = ${idleInTransactionMs}`,
      );
    },
  });
  pool.on('error', ignore);
  return {
    pool,
    async close() {
      // The pool drops connections before they are closed. An open socket keeps the process alive.
      const closed = [...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve)));
      await withTimeout(Promise.all([pool.end(), ...closed]), CLOSE_MS);
      for (const socket of sockets) socket.destroy();
    },
  };
};
