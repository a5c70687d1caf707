import { setTimeout as wait } from 'node:timers/promises';
import {
  type BatchRecord,
  batchStatements,
  type CheckedRow,
  checkRow,
  type IngestionReject,
  type IngestionRun,
  ingestMutation,
  isRejected,
  type OpenReject,
  RowRejectedError,
  type Store,
  TransientError,
  type Watermark,
  type Workspace,
} from '../service/index.ts';
import { countCharacters } from './row-size.ts';
import { shortenPayload } from './shorten-payload.ts';
import { SourceError } from './source-error.ts';
import {
  formatPosition,
  hashRow,
  isAfter,
  type MalformedRow,
  type SourceRow,
  toStoredRow,
} from './source-row.ts';

/** Maximum rows of a transaction. Larger transactions would block requests, which share the service's thread. */
const MAX_ROWS = 100;
/** Approximate size limit of a batch, in characters. */
const MAX_CHARACTERS = 1_000_000;
/** Maximum rows with the same key and `UPDATED_AT`, which must share a batch. */
const MAX_SAME_KEY_ROWS = 1_000;
const MAX_SAME_KEY_CHARACTERS = 4_000_000;
/** Maximum open rejects of an integration. More rejects mean that the source does not match the workspace file. */
const MAX_REJECTS = 100_000;
const storable = (text: string): string => text.replaceAll('\u0000', '\u2400');
/** Replaces U+0000, which PostgreSQL cannot store. Keys never contain it. */
const storableReject = (reject: IngestionReject): IngestionReject => ({
  ...reject,
  userIdentifier: reject.userIdentifier === null ? null : storable(reject.userIdentifier),
  reason: storable(reject.reason),
  payload: storable(shortenPayload(reject.payload)),
});
/** Retry delay after a transient error; writes of requests take precedence. */
const RETRY_MS = 1_000;
const MAX_TRIES = 60;

interface CheckedSourceRow {
  row: SourceRow;
  checked: CheckedRow | { reason: string };
}

interface Batch {
  checkedRows: readonly CheckedSourceRow[];
  malformed: readonly IngestionReject[];
  /** IDs of rejects whose rows are no longer in the source. */
  closedRejectIds: readonly string[];
}

interface OpenBatch {
  checkedRows: CheckedSourceRow[];
  malformed: IngestionReject[];
  closedRejectIds: string[];
  characters: number;
}

const emptyBatch = (): OpenBatch => ({
  checkedRows: [],
  malformed: [],
  closedRejectIds: [],
  characters: 0,
});

/** Rows with the same key and `UPDATED_AT`. If one is rejected, later runs read all of them again. */
interface KeyGroup {
  key: string;
  timeUs: number;
  /** Hashes of rows stored by earlier runs. */
  storedRows: readonly string[];
  checkedRows: CheckedSourceRow[];
}

/** Returns the initial size of a group of consecutive rows with the same key and time. */
const newSameKeyGroup = () => ({ rows: 1, characters: 0 });

interface BatchWriterOptions {
  store: Pick<Store, 'write'>;
  workspace: Workspace;
  rowType: 'attributes' | 'events' | 'purchases' | 'deletes';
  run: IngestionRun;
  watermark: Watermark | null;
  /** Unix microseconds after which rows are deduplicated individually; `null` if none are. */
  dedupeSinceUs: number | null;
  lookbackUs: number;
  /** Rows within the lookback that earlier runs stored. */
  storedRows: BatchRecord['storedRows'];
  /** Rejects of earlier runs by ID. The writer updates them. */
  openRejects: Map<string, Pick<OpenReject, 'updatedAtUs' | 'storedRows'>>;
  /** Returns whether this run still holds the lease. */
  holdsLease(): Promise<boolean>;
  now(): number;
}

/** Returns whether a row has the time and key of the previous row, so that no watermark can lie between them. */
const isTie = (checkedRows: readonly CheckedSourceRow[], at: number): boolean => {
  const [before, after] = [checkedRows[at - 1]!.row, checkedRows[at]!.row];
  return before.timeUs === after.timeUs && before.sortKey === after.sortKey;
};

/** Returns the index at which to split a batch: not between rows with the same time and key, unless all rows share them. */
const findMiddle = (checkedRows: readonly CheckedSourceRow[]): number => {
  const middle = checkedRows.length >> 1;
  let cut = middle;
  while (cut < checkedRows.length && isTie(checkedRows, cut)) cut += 1;
  return cut === checkedRows.length ? middle : cut;
};

/** Returns the index of the first row with the time and key of the row at `at`. */
const findGroupStart = (checkedRows: readonly CheckedSourceRow[], at: number): number => {
  let start = at;
  while (start > 0 && isTie(checkedRows, start)) start -= 1;
  return start;
};

export const rejectIdForRow = (key: string): string => `key:${key}`;

/**
 * Stores rows in batches. The transaction of a batch also stores the watermark, the run's counts and its rejects. Rows with the
 * same time and key share a batch, because a watermark cannot lie between them.
 */
export const createBatchWriter = (options: BatchWriterOptions) => {
  const { store, workspace, rowType: type, lookbackUs, openRejects, holdsLease, now } = options;
  const newestStoredUs = new Map<string, number>();
  /** Hashes of rows within the lookback that earlier runs stored, by position. */
  const earlierHashes = new Map<string, string[]>();
  for (const [timeUs, sortKey, hash] of options.storedRows) {
    newestStoredUs.set(sortKey, Math.max(timeUs, newestStoredUs.get(sortKey) ?? timeUs));
    const position = formatPosition({ timeUs, sortKey });
    if (hash !== undefined) earlierHashes.set(position, [...(earlierHashes.get(position) ?? []), hash]);
  }
  /** Returns whether an earlier run has stored a newer row of the key, which supersedes a rejected row. */
  const isSuperseded = ({ timeUs, sortKey }: SourceRow): boolean =>
    timeUs < (newestStoredUs.get(sortKey) ?? Number.NEGATIVE_INFINITY);
  let { run, watermark, dedupeSinceUs } = options;
  let pending = emptyBatch();
  let erasedUsers = 0;
  let sameKeyGroup = newSameKeyGroup();
  /** IDs of rejects from earlier runs. */
  const earlierRejects = new Set(openRejects.keys());
  const stillRejected = new Set<string>();
  /** Groups of the last microsecond, which may continue in the next batch, by key. */
  let lastGroups = new Map<string, KeyGroup>();

  /** Returns the newest group of each key, which decides whether the key is a reject. */
  const groupByKey = (checkedRows: readonly CheckedSourceRow[]): Map<string, KeyGroup> => {
    const groups = new Map<string, KeyGroup>();
    for (const each of checkedRows) {
      const { key, timeUs } = each.row;
      let group = groups.get(key);
      if (group?.timeUs !== timeUs) {
        const open = openRejects.get(rejectIdForRow(key));
        const openUs = open?.updatedAtUs ?? Number.NEGATIVE_INFINITY;
        // A late row does not change the reject of a newer row.
        if (timeUs < openUs || isSuperseded(each.row)) continue;
        const storedRows =
          open && timeUs === openUs ? open.storedRows : (earlierHashes.get(formatPosition(each.row)) ?? []);
        const last = lastGroups.get(key);
        group =
          last?.timeUs === timeUs
            ? { ...last, checkedRows: [...last.checkedRows] }
            : { key, timeUs, storedRows, checkedRows: [] };
        groups.set(key, group);
      }
      group.checkedRows.push(each);
    }
    return groups;
  };

  /** Returns the last rejected row of a group as a reject; `null` if all are stored. */
  const toReject = ({ checkedRows, storedRows }: KeyGroup): IngestionReject | null => {
    const rejected = checkedRows.findLast(({ checked }) => 'reason' in checked);
    if (!rejected || !('reason' in rejected.checked)) return null;
    const { row, checked } = rejected;
    const stored = checkedRows.filter((each) => !('reason' in each.checked));
    return storableReject({
      rejectId: rejectIdForRow(row.key),
      kind: 'invalid',
      key: row.key,
      userIdentifier: row.mapping.getUserIdentifier(row.values),
      updatedAtUs: row.timeUs,
      reason: checked.reason,
      payload: JSON.stringify(row.values),
      storedRows: [...storedRows, ...stored.map((each) => hashRow(each.row))],
    });
  };

  const toRecord = ({ checkedRows, malformed, closedRejectIds }: Batch): BatchRecord => {
    const last = checkedRows.at(-1)?.row;
    const newWatermark =
      last && isAfter(last, watermark) ? { timeUs: last.timeUs, sortKey: last.sortKey } : watermark;
    const since =
      dedupeSinceUs === null ? null : Math.max(dedupeSinceUs, (newWatermark?.timeUs ?? 0) - lookbackUs);
    const stored = checkedRows.filter(({ checked }) => !('reason' in checked)).map(({ row }) => row);
    const groups = groupByKey(checkedRows);
    const rejects = [...[...groups.values()].flatMap((group) => toReject(group) ?? []), ...malformed];
    const rejectIds = new Set(rejects.map(({ rejectId }) => rejectId));
    for (const id of rejectIds) if (earlierRejects.has(id)) stillRejected.add(id);
    const failed = [
      ...checkedRows
        .filter(({ row, checked }) => 'reason' in checked && !isSuperseded(row))
        .map(({ row }) => rejectIdForRow(row.key)),
      ...malformed.map(({ rejectId }) => rejectId),
    ].filter((id) => !earlierRejects.has(id));
    const closed = [
      ...closedRejectIds,
      ...[...groups.keys()].map(rejectIdForRow),
      ...checkedRows.flatMap(({ row }) => row.rejectId ?? []),
    ];
    return {
      run: {
        ...run,
        watermarkUs: newWatermark?.timeUs ?? null,
        rowsSynced: run.rowsSynced + stored.length,
        rowsFailed: run.rowsFailed + failed.length,
      },
      watermark: newWatermark,
      dedupeSinceUs: since,
      storedRows:
        since === null
          ? []
          : stored.filter(({ timeUs }) => timeUs > since).map((row) => toStoredRow(row, type)),
      rejects,
      closedRejectIds: closed.filter((id) => openRejects.has(id) && !rejectIds.has(id)),
      nowMs: now(),
    };
  };

  /** Stores rows. Resolves with the number of erased users. */
  const write = async ({ checkedRows }: Batch, record: BatchRecord): Promise<number> => {
    const rows = checkedRows.flatMap(({ checked }) => ('reason' in checked ? [] : [checked]));
    const mutation = ingestMutation(workspace.workspaceId, rows, record.nowMs, batchStatements(record));
    for (let tries = 1; ; tries += 1) {
      try {
        return await store.write(mutation);
      } catch (error) {
        // Nothing was stored. The delay lets writes of requests take precedence.
        if (!(error instanceof TransientError) || tries === MAX_TRIES) throw error;
        await wait(RETRY_MS);
      }
    }
  };

  const commit = async (batch: Batch): Promise<void> => {
    const { checkedRows } = batch;
    const record = toRecord(batch);
    const added = record.rejects.filter(({ rejectId }) => !openRejects.has(rejectId));
    if (openRejects.size + added.length > MAX_REJECTS) {
      const { reason } = added.at(-1)!;
      throw new SourceError(`more than ${MAX_REJECTS} rows are rejected, the last one because: ${reason}`);
    }
    const commitInTwo = async (at: number): Promise<void> => {
      await commit({ checkedRows: checkedRows.slice(0, at), malformed: [], closedRejectIds: [] });
      return commit({ ...batch, checkedRows: checkedRows.slice(at) });
    };
    try {
      erasedUsers += await write(batch, record);
    } catch (error) {
      if (error instanceof RowRejectedError) {
        const valid = checkedRows.filter(({ checked }) => !('reason' in checked));
        const at = checkedRows.indexOf(valid[error.index]!);
        // The rows before it may have used up the limit of a request.
        const start = findGroupStart(checkedRows, at);
        if (start > 0) return commitInTwo(start);
        const rejected = { ...checkedRows[at]!, checked: { reason: error.reason } };
        return commit({ ...batch, checkedRows: checkedRows.with(at, rejected) });
      }
      // Splits the batch to isolate a row that the database rejects. If another run holds the lease, it would reject every row.
      if (!isRejected(error) || !(await holdsLease())) throw error;
      const [first] = checkedRows;
      if (checkedRows.length < 2) {
        if (!first || 'reason' in first.checked) throw error;
        const checked = { reason: 'The database cannot hold a value of the row' };
        return commit({ ...batch, checkedRows: [{ ...first, checked }] });
      }
      return commitInTwo(findMiddle(checkedRows));
    }
    ({ run, watermark, dedupeSinceUs } = record);
    const lastUs = checkedRows.at(-1)?.row.timeUs;
    lastGroups = new Map(
      [...lastGroups, ...groupByKey(checkedRows)].filter(([, { timeUs }]) => timeUs === lastUs),
    );
    for (const id of record.closedRejectIds) openRejects.delete(id);
    for (const reject of record.rejects) openRejects.set(reject.rejectId, reject);
  };

  const flush = async () => {
    const batch = pending;
    pending = emptyBatch();
    if (batch.checkedRows.length + batch.malformed.length + batch.closedRejectIds.length > 0)
      await commit(batch);
  };
  /** Flushes the batch if it is full. */
  const flushIfFull = async () => {
    const rows = pending.checkedRows.length + pending.malformed.length + pending.closedRejectIds.length;
    if (rows >= MAX_ROWS || pending.characters >= MAX_CHARACTERS) await flush();
  };

  /** Adds a row to the current group with the same key and time. Throws `SourceError` if the group is too large. */
  const growSameKeyGroup = (characters: number) => {
    sameKeyGroup.rows += 1;
    sameKeyGroup.characters += characters;
    if (sameKeyGroup.rows > MAX_SAME_KEY_ROWS || sameKeyGroup.characters > MAX_SAME_KEY_CHARACTERS) {
      throw new SourceError(
        `more than ${MAX_SAME_KEY_ROWS} rows, or 4 MB, have one key and one UPDATED_AT: name in \`key\` a column whose values are unique`,
      );
    }
  };

  return {
    /** Returns the run as of the last stored batch. */
    run: () => run,
    /** Returns the number of users erased by this run. */
    erasedUsers: () => erasedUsers,
    flush,

    /** Returns the number of earlier rejects that were rejected again. They are not new failures. */
    stillRejected: () => stillRejected.size,

    async add(row: SourceRow) {
      const characters = countCharacters(row.values);
      const last = pending.checkedRows.at(-1)?.row;
      if (last?.timeUs === row.timeUs && last.sortKey === row.sortKey) growSameKeyGroup(characters);
      else {
        sameKeyGroup = newSameKeyGroup();
        await flushIfFull();
      }
      pending.characters += characters;
      const mapped = row.mapping.toObject(row);
      const checked = 'reason' in mapped ? mapped : checkRow(type, mapped.object, workspace, now());
      pending.checkedRows.push({ row, checked });
    },

    async reject({ timeUs, ...row }: MalformedRow) {
      await flushIfFull();
      // Truncates the line now, because up to a hundred long lines may wait for their batch.
      pending.malformed.push(
        storableReject({ ...row, kind: 'malformed', updatedAtUs: timeUs, storedRows: [] }),
      );
    },

    /** Closes a reject whose row is no longer in the source. */
    async closeReject(rejectId: string) {
      await flushIfFull();
      pending.closedRejectIds.push(rejectId);
    },
  };
};
