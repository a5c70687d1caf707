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
  type Store,
  TransientError,
  type Watermark,
  type Workspace,
} from '../service/index.ts';
import { countCharacters } from './row-size.ts';
import { shortenPayload } from './shorten-payload.ts';
import { SourceError } from './source-error.ts';
import { isAfter, type MalformedRow, type SourceRow } from './source-row.ts';

/** Maximum rows of a transaction. Larger transactions would block requests, which share the service's thread. */
const MAX_ROWS = 100;
/** Approximate size limit of a batch, in characters. */
const MAX_CHARACTERS = 1_000_000;
/** Maximum rows with the same key and `UPDATED_AT`, which must share a batch. */
const MAX_TIE_ROWS = 1_000;
const MAX_TIE_CHARACTERS = 4_000_000;
/** Maximum open rejects of an integration. More rejects mean that the source does not match the workspace file. */
const MAX_REJECTS = 100_000;
const storable = (text: string): string => text.replaceAll('\u0000', '\u2400');
/** Replaces U+0000, which PostgreSQL cannot store. Keys never contain it. */
const storableReject = (reject: IngestionReject): IngestionReject => ({
  ...reject,
  userKey: reject.userKey === null ? null : storable(reject.userKey),
  reason: storable(reject.reason),
  payload: storable(shortenPayload(reject.payload)),
});
/** Retry delay after a transient error; writes of requests take precedence. */
const AGAIN_MS = 1_000;
const MAX_TRIES = 60;

interface Judged {
  row: SourceRow;
  checked: CheckedRow | { reason: string };
}

interface Batch {
  judged: readonly Judged[];
  unusable: readonly IngestionReject[];
  /** IDs of rejects whose rows are no longer in the source. */
  gone: readonly string[];
}

const noRows = () => ({
  judged: [] as Judged[],
  unusable: [] as IngestionReject[],
  gone: [] as string[],
  characters: 0,
});

/** Returns the initial size of a group of consecutive rows with the same key and time. */
const noTie = () => ({ rows: 1, characters: 0 });

interface BatchesOptions {
  store: Pick<Store, 'write'>;
  workspace: Workspace;
  rows: 'attributes' | 'events' | 'purchases' | 'deletes';
  run: IngestionRun;
  watermark: Watermark | null;
  /** Unix microseconds after which rows are deduplicated individually; `null` if none are. */
  dedupeSinceUs: number | null;
  lookbackUs: number;
  /** IDs of open rejects. */
  open: Set<string>;
  /** Returns whether this run still holds the lease. */
  holdsLease(): Promise<boolean>;
  now(): number;
}

/** Returns the index at which to split a batch: not between rows with the same time and key, unless all rows share them. */
const findMiddle = (judged: readonly Judged[]): number => {
  const middle = judged.length >> 1;
  const isTie = (at: number) => {
    const [before, after] = [judged[at - 1]!.row, judged[at]!.row];
    return before.us === after.us && before.order === after.order;
  };
  let cut = middle;
  while (cut < judged.length && isTie(cut)) cut += 1;
  return cut === judged.length ? middle : cut;
};

export const rejectIdForRow = (key: string): string => `key:${key}`;

/**
 * Stores rows in batches. The transaction of a batch also stores the watermark, the run's counts and its rejects. Rows with the
 * same time and key share a batch, because a watermark cannot lie between them.
 */
export const createBatches = (options: BatchesOptions) => {
  const { store, workspace, rows: type, lookbackUs, open, holdsLease, now } = options;
  let { run, watermark, dedupeSinceUs } = options;
  let pending = noRows();
  let erasedUsers = 0;
  let tie = noTie();
  /** IDs of rejects from earlier runs. */
  const earlierRejects = new Set(open);
  const stillRejected = new Set<string>();

  const toRejects = ({ row, checked }: Judged): IngestionReject[] =>
    'reason' in checked
      ? [
          storableReject({
            rejectId: rejectIdForRow(row.key),
            kind: 'invalid',
            key: row.key,
            userKey: row.columns.userKeyOf(row.values),
            updatedAtUs: row.us,
            reason: checked.reason,
            payload: JSON.stringify(row.values),
          }),
        ]
      : [];

  const toRecord = ({ judged, unusable, gone }: Batch): BatchRecord => {
    const last = judged.at(-1)?.row;
    const moved = last && isAfter(last, watermark) ? { us: last.us, key: last.order } : watermark;
    const since = dedupeSinceUs === null ? null : Math.max(dedupeSinceUs, (moved?.us ?? 0) - lookbackUs);
    const stored = judged.filter(({ checked }) => !('reason' in checked)).map(({ row }) => row);
    // If several rows have the same key, the last row decides whether the key is a reject.
    const lasting = new Map(judged.map((each) => [each.row.key, each]));
    const rejects = [...[...lasting.values()].flatMap(toRejects), ...unusable];
    for (const { rejectId } of rejects) if (earlierRejects.has(rejectId)) stillRejected.add(rejectId);
    const failed = [
      ...judged.filter(({ checked }) => 'reason' in checked).map(({ row }) => rejectIdForRow(row.key)),
      ...unusable.map(({ rejectId }) => rejectId),
    ].filter((id) => !earlierRejects.has(id));
    const settled = [
      ...gone,
      ...stored.map(({ key }) => rejectIdForRow(key)),
      ...judged.flatMap(({ row }) => row.rejectId ?? []),
    ];
    return {
      run: {
        ...run,
        watermarkUs: moved?.us ?? null,
        rowsSynced: run.rowsSynced + stored.length,
        rowsFailed: run.rowsFailed + failed.length,
      },
      watermark: moved,
      dedupeSinceUs: since,
      seen: since === null ? [] : stored.filter(({ us }) => us > since).map(({ us, order }) => [us, order]),
      rejects,
      settled: settled.filter((id) => open.has(id)),
      nowMs: now(),
    };
  };

  /** Stores rows. Resolves with the rows rejected in whole or in part because of the stored profile. */
  const write = async (judged: readonly Judged[], record: BatchRecord): Promise<Judged[]> => {
    const sound = judged.filter(({ checked }) => !('reason' in checked));
    const rows = sound.flatMap(({ checked }) => ('reason' in checked ? [] : [checked]));
    const work = ingestMutation(workspace.workspaceId, rows, record.nowMs, batchStatements(record));
    for (let tries = 1; ; tries += 1) {
      try {
        const { faults, erased } = await store.write(work);
        erasedUsers += erased;
        return faults.map((fault) => {
          const { row } = sound[fault.position]!;
          const reason =
            fault.of === 'attributes'
              ? fault.problems.join('; ')
              : 'The user has too many names of events or products';
          return { row, checked: { reason } };
        });
      } catch (error) {
        // Nothing was stored. The delay lets writes of requests take precedence.
        if (!(error instanceof TransientError) || tries === MAX_TRIES) throw error;
        await wait(AGAIN_MS);
      }
    }
  };

  const commit = async (batch: Batch): Promise<void> => {
    const { judged } = batch;
    const record = toRecord(batch);
    if (open.size + record.rejects.length > MAX_REJECTS) {
      const { reason } = record.rejects.at(-1)!;
      throw new SourceError(`more than ${MAX_REJECTS} rows are rejected, the last one because: ${reason}`);
    }
    let refused: Judged[];
    try {
      refused = await write(judged, record);
    } catch (error) {
      // Splits the batch to isolate a row that the database rejects. If another run holds the lease, it would reject every row.
      if (!isRejected(error) || !(await holdsLease())) throw error;
      const [first] = judged;
      if (judged.length < 2) {
        if (!first || 'reason' in first.checked) throw error;
        const checked = { reason: 'The database cannot hold a value of the row' };
        return commit({ ...batch, judged: [{ ...first, checked }] });
      }
      const half = findMiddle(judged);
      await commit({ judged: judged.slice(0, half), unusable: [], gone: [] });
      return commit({ ...batch, judged: judged.slice(half) });
    }
    ({ run, watermark, dedupeSinceUs } = record);
    for (const id of record.settled) open.delete(id);
    for (const { rejectId } of record.rejects) open.add(rejectId);
    if (refused.length === 0) return;
    // Rejects that depend on the profile are known only now, so they are recorded after the other rows are stored. After a crash
    // in between, they are missing from the list.
    run = { ...run, rowsSynced: run.rowsSynced - refused.length };
    await commit({ judged: refused, unusable: [], gone: [] });
  };

  const flush = async () => {
    const batch = pending;
    pending = noRows();
    if (batch.judged.length + batch.unusable.length + batch.gone.length > 0) await commit(batch);
  };
  /** Flushes the batch if it is full. */
  const makeRoom = async () => {
    const rows = pending.judged.length + pending.unusable.length + pending.gone.length;
    if (rows >= MAX_ROWS || pending.characters >= MAX_CHARACTERS) await flush();
  };

  /** Adds a row to the current group with the same key and time. Throws `SourceError` if the group is too large. */
  const growTie = (characters: number) => {
    tie.rows += 1;
    tie.characters += characters;
    if (tie.rows > MAX_TIE_ROWS || tie.characters > MAX_TIE_CHARACTERS) {
      throw new SourceError(
        `more than ${MAX_TIE_ROWS} rows, or 4 MB, have one key and one UPDATED_AT: name in \`key\` a column whose values are unique`,
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
      const last = pending.judged.at(-1)?.row;
      if (last?.us === row.us && last.order === row.order) growTie(characters);
      else {
        tie = noTie();
        await makeRoom();
      }
      pending.characters += characters;
      const made = row.columns.objectOf(row);
      const checked = 'reason' in made ? made : checkRow(type, made.object, workspace, now());
      pending.judged.push({ row, checked });
    },

    async reject({ us, ...row }: MalformedRow) {
      await makeRoom();
      // Truncates the line now, because up to a hundred long lines may wait for their batch.
      pending.unusable.push(storableReject({ ...row, kind: 'malformed', updatedAtUs: us }));
    },

    /** Closes a reject whose row is no longer in the source. */
    async settle(rejectId: string) {
      await makeRoom();
      pending.gone.push(rejectId);
    },
  };
};
