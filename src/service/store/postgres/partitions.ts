import type { Pool } from 'pg';
import type { Forgotten } from '../forgotten.ts';
import { isLockedOut, isStray } from './retry.ts';
import { runIn } from './statement.ts';
import { inTransaction } from './transaction.ts';

export const PARTITIONED = ['events', 'banner_events'] as const;
/** Months that have a partition of their own from the start: these many before this one, and after it. */
const MONTHS_BEFORE = 2;
const MONTHS_AFTER = 3;
const PARTITION_LOCK = 7_061_637;
/**
 * A partition comes and goes under a lock that no reader of its table may hold, and every writer queues behind whoever
 * waits for that lock: an export, or a backup, may read for hours.
 */
const WAIT_SHORTLY = "SET LOCAL lock_timeout = '1s'";

interface Month {
  name: string;
  startMs: number;
  endMs: number;
}

/** Nearly every event is of the month that the one before was of. */
let lastMonth: Month | null = null;

/** The UTC month an instant is in. */
export const monthOf = (ms: number): Month => {
  if (lastMonth === null || ms < lastMonth.startMs || ms >= lastMonth.endMs) {
    const date = new Date(ms);
    lastMonth = month(date.getUTCFullYear(), date.getUTCMonth());
  }
  return lastMonth;
};

const month = (year: number, index: number): Month => {
  const startMs = Date.UTC(year, index, 1);
  return {
    name: new Date(startMs).toISOString().slice(0, 7).replace('-', '_'),
    startMs,
    endMs: Date.UTC(year, index + 1, 1),
  };
};

/**
 * Makes the partitions of the months around now. Rows of a month that lie in the default partition already keep that
 * month there: PostgreSQL would refuse the partition, and nothing needs it.
 */
export const ensurePartitions = async (pool: Pool, nowMs: number): Promise<void> => {
  const now = new Date(nowMs);
  const missed = (error: unknown) => {
    // There is time until the month begins, and else its rows go to the default partition, as one may have just now.
    if (!isLockedOut(error) && !isStray(error)) throw error;
  };
  for (let offset = -MONTHS_BEFORE; offset <= MONTHS_AFTER; offset += 1) {
    const { name, startMs, endMs } = month(now.getUTCFullYear(), now.getUTCMonth() + offset);
    for (const table of PARTITIONED) {
      await inTransaction(pool, async (run) => {
        await run(`SELECT pg_advisory_xact_lock(${PARTITION_LOCK})`);
        const partition = `${table}_${name}`;
        const [known] = await run('SELECT to_regclass($1) IS NOT NULL AS known', [partition]);
        if (known?.['known'] === true) return;
        const column = table === 'events' ? 'time_ms' : 'timestamp_ms';
        const strays = await run(
          `SELECT 1 FROM ${table}_default WHERE ${column} >= ${startMs} AND ${column} < ${endMs} LIMIT 1`,
        );
        if (strays.length > 0) return;
        await run(WAIT_SHORTLY);
        await run(
          `CREATE TABLE ${partition} PARTITION OF ${table} FOR VALUES FROM (${startMs}) TO (${endMs})`,
        );
      }).catch(missed);
    }
  }
};

const dropPartition = async (pool: Pool, name: string): Promise<void> => {
  try {
    await inTransaction(pool, async (run) => {
      await run(WAIT_SHORTLY);
      await run(`DROP TABLE ${name}`);
    });
  } catch (error) {
    if (!isLockedOut(error)) throw error;
    throw new Error(`${name} is being read, as by an export or a backup: drop it when that is done`, {
      cause: error,
    });
  }
};

/**
 * Drops the partitions whose every event is older than `beforeMs`, and deletes older rows from the default ones. With
 * `dryRun` it only counts.
 */
export const dropPartitionsBefore = async (
  pool: Pool,
  beforeMs: number,
  dryRun: boolean,
): Promise<Forgotten[]> => {
  const run = runIn(pool);
  const forgotten: Forgotten[] = [];
  for (const table of PARTITIONED) {
    const partitions = await run<{ name: string }>(
      `SELECT child.relname AS name FROM pg_inherits
      JOIN pg_class child ON child.oid = inhrelid JOIN pg_class parent ON parent.oid = inhparent
      WHERE parent.oid = to_regclass($1) ORDER BY child.relname`,
      [table],
    );
    const column = table === 'events' ? 'time_ms' : 'timestamp_ms';
    for (const { name } of partitions) {
      const match = /_(\d{4})_(\d\d)$/.exec(name);
      const isOld = match !== null && Date.UTC(Number(match[1]), Number(match[2]), 1) <= beforeMs;
      if (match && !isOld) continue;
      const where = match ? '' : ` WHERE ${column} < ${beforeMs}`;
      const [counted] = await run<{ rows: string }>(`SELECT count(*) AS rows FROM ${name}${where}`);
      let rows = Number(counted?.rows ?? 0);
      if (!match && rows === 0) continue;
      // To count under the lock that the drop takes would keep every writer waiting for as long.
      if (!dryRun && match) await dropPartition(pool, name);
      else if (!dryRun) {
        const [deleted] = await run<{ rows: string }>(
          `WITH deleted AS (DELETE FROM ${name}${where} RETURNING 1) SELECT count(*) AS rows FROM deleted`,
        );
        rows = Number(deleted?.rows ?? 0);
      }
      forgotten.push({ table, partition: name, rows, ...(!dryRun && match && { isAbout: true }) });
    }
  }
  return forgotten;
};
