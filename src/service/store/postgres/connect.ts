import postgres, { type Sql } from 'postgres';

/** Connections of one replica: two that write users, two for banner events, the rest for reads and limits. */
const CONNECTIONS = 10;
const CONNECT_SECONDS = 10;

/**
 * Requests look rows up by their keys, a few hundred at a time. A plan that reads whole tables is never better, and a
 * table that was small when its plan was made may have grown.
 */
const BY_KEYS = { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off' };

/** `readsWhole` is for exports and upkeep, which do read whole tables. */
export const connect = (url: string, options: { connections?: number; readsWhole?: boolean } = {}): Sql =>
  postgres(url, {
    max: options.connections ?? CONNECTIONS,
    connect_timeout: CONNECT_SECONDS,
    onnotice: () => undefined,
    connection: { application_name: 'placard', ...(options.readsWhole ? {} : BY_KEYS) },
  });
