import { setTimeout as wait } from 'node:timers/promises';
import { Client, type FieldDef } from 'pg';
import { readSecret } from '../secrets/index.ts';
import { type Source, stampText, toConnectionString } from '../service/index.ts';
import { joinKey, MAX_INDEXED_BYTES, resolveMapping } from './columns.ts';
import {
  ARRAY_TYPES,
  DATE,
  readerFor,
  TIME_TYPES,
  TIMESTAMPTZ,
  TYPE_SETTINGS,
  timeResolutionUs,
} from './postgres-types.ts';
import { readRow, type SourceColumn } from './read-row.ts';
import { MAX_ROW_CHARACTERS, ROW_TOO_LARGE } from './row-size.ts';
import type { Snapshot, SnapshotQuery } from './snapshot.ts';
import { SourceError } from './source-error.ts';
import { MAX_CLOCK_SKEW_US, malformedRow, type Position, type SourceRow } from './source-row.ts';

type PostgresSource = Extract<Source, { kind: 'postgres' }>;

const NAME = 'placard ingestion';
const CONNECT_MS = 10_000;
/** Statement timeout in milliseconds. */
const STATEMENT_MS = 300_000;
/** Rows fetched at once. Only one batch, because each row may have the maximum size. */
const PAGE = 100;
/** Maximum displayed characters of a value in an oversized row. */
const SHOWN = 1_000;
/** Maximum keys of one statement. */
const KEYS = 500;

/** Type parsers that keep PostgreSQL's text output, which `readerFor` converts to JSON. */
const AS_TEXT = { getTypeParser: () => (text: string) => text };
const BEGIN = 'BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY';

/**
 * Query of the start of the oldest transaction that may still commit. The time of rows that it changes is its start. Only members
 * of `pg_read_all_stats` can view sessions of other roles. Excludes integration runs, because they do not write.
 */
const OLDEST_TRANSACTION = `SELECT (extract(epoch FROM min(xact_start)) * 1000000)::bigint AS time_us,
    (SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database()) AS prepared
  FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name <> '${NAME}'
    AND backend_type NOT IN ('autovacuum worker', 'walsender')`;
const HAS_READ_ALL_STATS = `SELECT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') AS sees,
    pg_is_in_recovery() AS is_standby`;
/** Delay before reading `pg_stat_activity`, because a transaction appears there shortly after its start. */
const ACTIVITY_DELAY_MS = 250;
const PREPARED_TRIES = 40;

/** Returns the time up to which all rows are visible, and the reason if it is not now. Call it before the snapshot begins. */
const readBound = async (client: Client, nowUs: number, lookbackSeconds: number) => {
  const { rows } = await client.query(HAS_READ_ALL_STATS);
  if (rows[0].is_standby || !rows[0].sees) {
    if (lookbackSeconds > 0) return { boundUs: nowUs, message: null };
    const why = rows[0].is_standby
      ? 'A standby does not know which transactions are still running'
      : 'The role does not see which transactions are still running (GRANT pg_read_all_stats)';
    throw new SourceError(
      `${why}, so a row that is committed late would be lost: allow for it with lookback_seconds`,
    );
  }
  for (let tries = 0; tries < PREPARED_TRIES; tries += 1) {
    await wait(ACTIVITY_DELAY_MS);
    const [oldest] = (await client.query(OLDEST_TRANSACTION)).rows;
    if (Number(oldest.prepared) > 0) continue;
    if (oldest.time_us === null || Number(oldest.time_us) >= nowUs) return { boundUs: nowUs, message: null };
    const message = `Rows from ${stampText(Number(oldest.time_us))} on wait for a transaction that has been running since then`;
    return {
      boundUs: Number(oldest.time_us),
      message: nowUs - Number(oldest.time_us) > MAX_CLOCK_SKEW_US ? message : null,
    };
  }
  throw new SourceError('A prepared transaction is neither committed nor rolled back: see pg_prepared_xacts');
};

/** Reads the password. Throws a `SourceError` that names the variable or the file. */
const sourcePassword = (variable: string): string => {
  let password: string | undefined;
  try {
    password = readSecret(variable);
  } catch (error) {
    throw SourceError.from(error);
  }
  if (password === undefined) throw new SourceError(`the variable ${variable} with the password is not set`);
  return password;
};

const getConnectionUrl = ({ url, password_env }: PostgresSource): string => {
  if (password_env === undefined) return url;
  const password = sourcePassword(password_env);
  // Appends a query parameter, because `new URL` rejects the empty host of a URL with a Unix socket.
  return `${url}${url.includes('?') ? '&' : '?'}password=${encodeURIComponent(password)}`;
};

const columnReaders = async (client: Client, fields: readonly FieldDef[]): Promise<SourceColumn[]> => {
  const types = fields.map(({ dataTypeID }) => dataTypeID).join(', ');
  const arrays = await client.query<{ oid: number; element: number }>(`${ARRAY_TYPES} (${types})`);
  const elements = new Map(arrays.rows.map(({ oid, element }) => [oid, element]));
  return fields.map(({ name, dataTypeID: type }) => ({
    name,
    read: readerFor(type, elements.get(type)),
  }));
};

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
const ignore = () => undefined;

/**
 * Reads a table through a cursor, in one transaction with one snapshot. The time bound is determined before the snapshot, so that
 * no row before the bound can appear later.
 */
export const openPostgres = async (source: PostgresSource, query: SnapshotQuery): Promise<Snapshot> => {
  const { after, invalidKeys, signal } = query;
  const client = new Client({
    connectionString: toConnectionString(getConnectionUrl(source)),
    application_name: NAME,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: STATEMENT_MS + CONNECT_MS,
    keepAlive: true,
  });
  // A lost connection also fails the active statement. Without a listener, the `error` event would end the process.
  client.on('error', ignore);
  const stop = () => void client.end().catch(ignore);
  signal.addEventListener('abort', stop);
  const close = async () => {
    signal.removeEventListener('abort', stop);
    await client.end().catch(ignore);
  };
  try {
    signal.throwIfAborted();
    await client.connect();
    const isRedshift = /redshift/i.test((await client.query('SELECT version() AS version')).rows[0].version);
    const clock = isRedshift ? 'getdate()' : 'clock_timestamp()';
    const [now] = (await client.query(`SELECT ${microseconds(clock)} AS time_us`)).rows;
    const nowUs = Number(now.time_us);
    const { boundUs, message } = isRedshift
      ? { boundUs: nowUs, message: null }
      : await readBound(client, nowUs, source.lookback_seconds ?? 0);
    await client.query(BEGIN);
    // Applies the settings to the transaction, because a pooler may reassign the session.
    const settings = [...TYPE_SETTINGS.everywhere, ...(isRedshift ? [] : TYPE_SETTINGS.postgres)];
    for (const setting of [`statement_timeout = ${STATEMENT_MS}`, ...settings]) {
      await client.query(`SET LOCAL ${setting}`);
    }
    const table = source.table.split('.').map(quoted).join('.');
    const { fields } = await client.query(`SELECT * FROM ${table} LIMIT 0`);
    const mapping = resolveMapping(
      source,
      fields.map(({ name }) => name),
    );
    const used = fields.filter(({ name }) => mapping.used.includes(name));
    const sourceColumns = await columnReaders(client, used);
    const timeField = fields.find(({ name }) => name === mapping.updatedAt)!;
    const timeType = timeField.dataTypeID;
    if (!TIME_TYPES.includes(timeType)) {
      throw new SourceError(`the column "${mapping.updatedAt}" is not a PostgreSQL date and time`);
    }
    // A day or second is read once it is over, because rows that are written until then have the same time.
    const resolutionUs = timeResolutionUs(timeType, timeField.dataTypeModifier);
    const readUntilUs = Math.floor(boundUs / resolutionUs) * resolutionUs;
    const waitMessage =
      timeType === DATE
        ? `Rows of ${stampText(readUntilUs).slice(0, 10)} on are read once their day is over in UTC, because "${mapping.updatedAt}" is a date`
        : null;
    const time = quoted(mapping.updatedAt);
    const key = mapping.key.map((each) => `${quoted(each)}::text`).join(' || chr(31) || ');
    const inOrder = isRedshift ? `(${key})` : `(${key}) COLLATE "C"`;
    const finiteCondition = isRedshift ? `${time} IS NOT NULL` : `isfinite(${time})`;
    const timeCondition = `${finiteCondition} AND ${time} >= '0001-01-01'`;
    /** Returns the SQL of a time, cast to the column's type so that PostgreSQL can use an index. */
    const toTimeLiteral = (timeUs: number) =>
      `'${stampText(timeUs)}'::timestamptz${timeType === TIMESTAMPTZ ? '' : " AT TIME ZONE 'UTC'"}`;
    const keyPartConditions = mapping.key.map((each) => `coalesce(${quoted(each)}::text, '') <> ''`);
    // Only variable-length values are measured, because fixed-length ones are small. Redshift limits row sizes itself.
    const lengths = isRedshift
      ? []
      : used.filter(({ dataTypeSize }) => dataTypeSize < 0).map(({ name }) => quoted(name));
    const size = lengths.map((each) => `coalesce(octet_length(${each}::text)::bigint, 0)`).join(' + ');
    const oversizedCondition = size === '' ? 'false' : `${size} > ${MAX_ROW_CHARACTERS}`;
    const keyCondition = [...keyPartConditions, `octet_length(${key}) <= ${MAX_INDEXED_BYTES}`].join(' AND ');
    const toAfterCondition = (position: Position | null): string => {
      if (position === null) return '';
      if (position.sortKey === null) return `AND ${time} > ${toTimeLiteral(position.timeUs)}`;
      const laterCondition = `${time} > ${toTimeLiteral(position.timeUs)} OR ${inOrder} > ${client.escapeLiteral(position.sortKey)}`;
      return `AND ${time} >= ${toTimeLiteral(position.timeUs)} AND (${laterCondition})`;
    };

    /** Yields pages of a statement's result. Only one cursor is open at a time. */
    async function* fetchPages(where: string) {
      const order = `${time}, ${inOrder}`;
      const selected = sourceColumns.map(({ name }) => {
        const column = quoted(name);
        if (!lengths.includes(column)) return column;
        return `CASE WHEN ${oversizedCondition} THEN left(${column}::text, ${SHOWN}) ELSE ${column}::text END`;
      });
      await client.query(
        `DECLARE found CURSOR FOR SELECT ${microseconds(time)}, ${key}, ${oversizedCondition}, ${selected.join(', ')}
         FROM ${table} WHERE ${where} ORDER BY ${order}`,
      );
      try {
        for (;;) {
          signal.throwIfAborted();
          // Fetches rows as arrays, because a column may have any name.
          const fetch = { text: `FETCH ${PAGE} FROM found`, rowMode: 'array' as const, types: AS_TEXT };
          const { rows } = await client.query<(string | null)[]>(fetch);
          for (const [timeUs = null, key = null, large, ...cells] of rows) {
            const row = readRow(sourceColumns, cells);
            yield { timeUs: timeUs === null ? null : Number(timeUs), key, row, isLarge: large === 't' };
          }
          if (rows.length < PAGE) return;
        }
      } finally {
        // Ignores the error of a lost connection, so that only the first error is reported.
        await client.query('CLOSE found').catch(ignore);
      }
    }
    const fetchRows = async function* (where: string): AsyncGenerator<SourceRow, void> {
      const rows = fetchPages(
        `${timeCondition} AND ${time} < ${toTimeLiteral(readUntilUs)} AND ${keyCondition} AND NOT (${oversizedCondition}) ${where}`,
      );
      for await (const { timeUs, key, row } of rows) {
        yield { ...row, timeUs: timeUs!, key: key!, sortKey: key!, mapping, rejectId: null };
      }
    };

    return {
      message: message ?? waitMessage,
      rows: () => fetchRows(toAfterCondition(after)),
      async *retryRows() {
        for (let first = 0; first < invalidKeys.length; first += KEYS) {
          const literals = invalidKeys.slice(first, first + KEYS).map((each) => client.escapeLiteral(each));
          yield* fetchRows(`AND ${inOrder} IN (${literals.join(', ')})`);
        }
      },
      async *malformed() {
        const unusableCondition = `${time} IS NULL OR NOT (${timeCondition}) OR ${time} > ${toTimeLiteral(nowUs + MAX_CLOCK_SKEW_US)} OR NOT (${keyCondition}) OR ${oversizedCondition}`;
        for await (const { timeUs, row, isLarge: isTooLarge } of fetchPages(unusableCondition)) {
          const malformed = malformedRow({
            timeUs,
            key: joinKey(row, mapping.key),
            row,
            mapping,
            lineId: null,
          });
          yield isTooLarge ? { ...malformed, reason: ROW_TOO_LARGE } : malformed;
        }
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};

/** Returns the SQL of a time in whole microseconds, even if `extract` is imprecise; NULL for `infinity`. */
const microseconds = (time: string): string =>
  `CASE WHEN ${time} BETWEEN '0001-01-01' AND '9999-12-31' THEN
     extract(epoch FROM date_trunc('second', ${time}))::bigint * 1000000
     + extract(microseconds FROM ${time}::timestamp)::bigint % 1000000 END`;
