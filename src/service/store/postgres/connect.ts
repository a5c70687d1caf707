import { Socket } from 'node:net';
import { Pool } from 'pg';

/** Connections of one replica for all but the writing of users. */
const CONNECTIONS = 8;
const CONNECT_MS = 10_000;
/** A connection whose server is gone without a word says nothing more: TCP alone would wait for a quarter of an hour. */
const ANSWER_MS = 30_000;
const KEEP_ALIVE_MS = 10_000;
/** A connection is made anew now and then: behind a name there may be another server by now. */
const LIFETIME_SECONDS = 3_600;
const CLOSE_MS = 5_000;

/**
 * Requests look rows up by their keys, a few hundred at a time. A plan that reads whole tables is never better, and a
 * table that was small when its plan was made may have grown. Before PostgreSQL 18 a plan that has no other way counts as
 * a dear one, and would be compiled each time.
 */
const BY_KEYS =
  'SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off;';

/**
 * A batch joins a list of any length with tables that grow. A plan that is kept may be of the time when a table was
 * empty, and walk all of it for every element of the list later; planning anew costs a batch next to nothing.
 */
const PLAN_ANEW = 'SET plan_cache_mode = force_custom_plan;';

const PURPOSES = {
  requests: { settings: BY_KEYS, answerMs: ANSWER_MS, pipeline: false },
  batches: { settings: BY_KEYS + PLAN_ANEW, answerMs: ANSWER_MS, pipeline: true },
  /** Reading whole tables, and changing them: both take as long as they take. */
  upkeep: { settings: '', answerMs: 0, pipeline: false },
};

/** The driver means `verify-full` by every mode; here they mean what they mean to `psql`. */
const asLibpq = (url: string): string =>
  /[?&]sslmode=(require|verify-ca)\b/.test(url) ? `${url}&uselibpqcompat=true` : url;

const ignore = () => undefined;

export interface Connections {
  pool: Pool;
  /** Waits for statements under way, but not for ever. */
  close(): Promise<void>;
}

/** Connections to a database; those of `batches` send a statement before the one before has its answer. */
export const connect = (
  url: string,
  purpose: keyof typeof PURPOSES,
  { connections = CONNECTIONS, answerMs = PURPOSES[purpose].answerMs } = {},
): Connections => {
  const { settings, pipeline } = PURPOSES[purpose];
  const sockets = new Set<Socket>();
  const stream = () => {
    const socket = new Socket();
    sockets.add(socket);
    return socket.once('close', () => sockets.delete(socket));
  };
  const pool = new Pool({
    connectionString: asLibpq(url),
    fallback_application_name: 'placard',
    max: connections,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: answerMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    idleTimeoutMillis: 0,
    maxLifetimeSeconds: LIFETIME_SECONDS,
    pipeline,
    stream,
    onConnect: async (client) => {
      // Whoever has a statement under way hears of a lost connection by that; unheard, the event would end the process.
      client.on('error', ignore);
      if (settings) await client.query(settings);
    },
  });
  pool.on('error', ignore);
  return {
    pool,
    async close() {
      const { promise: cut, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
        resolve();
      }, CLOSE_MS);
      await Promise.race([pool.end(), cut]);
      clearTimeout(timer);
    },
  };
};
