/** Parameters of a URL that the driver reads. */
const READ = [
  'application_name',
  'client_encoding',
  'fallback_application_name',
  'host',
  'idle_in_transaction_session_timeout',
  'lock_timeout',
  'options',
  'password',
  'port',
  'query_timeout',
  'ssl',
  'sslcert',
  'sslkey',
  'sslmode',
  'sslnegotiation',
  'sslrootcert',
  'statement_timeout',
  'uselibpqcompat',
  'user',
];

/** Those that only libpq reads. */
const OF_LIBPQ = `
  channel_binding connect_timeout dbname gssdelegation gssencmode gsslib hostaddr keepalives keepalives_count
  keepalives_idle keepalives_interval krbsrvname load_balance_hosts max_protocol_version min_protocol_version
  passfile replication require_auth requirepeer requiressl scram_client_key scram_server_key service servicefile
  ssl_max_protocol_version ssl_min_protocol_version sslcertmode sslcompression sslcrl sslcrldir sslkeylogfile
  sslpassword sslsni target_session_attrs tcp_user_timeout
`;
/** Those of poolers, other drivers and mappers: providers' URLs have them, and one URL serves all. */
const OF_OTHERS = `
  connection_limit currentSchema encoding pgbouncer pool pool_max_conns pool_min_conns pool_size pool_timeout
  prepared_statements prepareThreshold schema search_path socket_timeout sslaccept sslidentity
  statement_cache_size supa
`;
const KNOWN = new Set([...READ, ...OF_LIBPQ.trim().split(/\s+/), ...OF_OTHERS.trim().split(/\s+/)]);

/** The driver would pass over a mistyped `sslmode`, and connect without encryption. */
const refuseUnknown = (url: string): void => {
  for (const name of new URLSearchParams(/\?([^#]*)/.exec(url)?.[1]).keys()) {
    if (KNOWN.has(name)) continue;
    // What is no name may be the end of a password with a question mark in it.
    const which = /^\w+$/.test(name) ? ` '${name}'` : '';
    throw new Error(`the URL has an unknown parameter${which}; known are ${READ.join(', ')}`);
  }
};

/**
 * A URL of which the driver takes `sslmode` as `psql` does: left to itself it means `verify-full` by every mode. `mode` is
 * for a URL that names none. Throws where the URL has a parameter that nobody knows, as `psql` does.
 */
export const asLibpq = (url: string, mode: string | undefined): string => {
  refuseUnknown(url);
  const named = /[?&]sslmode=([\w-]+)/.exec(url)?.[1];
  const given = named ?? mode;
  if (given !== 'require' && given !== 'verify-ca') return url;
  const parameters = named ? 'uselibpqcompat=true' : `sslmode=${given}&uselibpqcompat=true`;
  return `${url}${url.includes('?') ? '&' : '?'}${parameters}`;
};
