import postgres, { type Sql } from 'postgres';

/** Connections of one replica for all but the writing of users. */
const CONNECTIONS = 8;
const CONNECT_SECONDS = 10;

/**
 * Requests look rows up by their keys, a few hundred at a time. A plan that reads whole tables is never better, and a
 * table that was small when its plan was made may have grown.
 */
const BY_KEYS = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  // Before PostgreSQL 18 a plan that has no other way counts as a dear one, and would be compiled each time.
  jit: 'off',
};

/**
 * A batch joins a list of any length with tables that grow. A plan that is kept may be of the time when a table was
 * empty, and walk all of it for every element of the list later; planning anew costs a batch next to nothing.
 */
const PLAN_ANEW = { plan_cache_mode: 'force_custom_plan' };

const SETTINGS = { requests: BY_KEYS, batches: { ...BY_KEYS, ...PLAN_ANEW }, exports: {} };

/** `purpose` says what the connections are for: single requests, batches of writes, or reading whole tables. */
export const connect = (
  url: string,
  purpose: keyof typeof SETTINGS,
  connections: number = CONNECTIONS,
): Sql =>
  postgres(url, {
    max: connections,
    connect_timeout: CONNECT_SECONDS,
    onnotice: () => undefined,
    connection: { application_name: 'placard', ...SETTINGS[purpose] },
  });
