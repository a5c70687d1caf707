import { statfsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Source } from '../../service/index.ts';
import { getReservedColumns, joinKey, type RowMapping, resolveMapping } from '../columns.ts';
import { countCharacters, MAX_ROW_CHARACTERS, ROW_TOO_LARGE } from '../row-size.ts';
import { shortenPayload } from '../shorten-payload.ts';
import { SourceError } from '../source-error.ts';
import {
  isAfter,
  MAX_CLOCK_SKEW_US,
  type MalformedRow,
  malformedRow,
  type Position,
  rejectIdForLine,
  toSortKey,
} from '../source-row.ts';
import type { FileRow, PickColumns } from './file-row.ts';
import { listFiles } from './list-files.ts';
import { readRows } from './read-rows.ts';
import { parseTimestamp } from './timestamp.ts';

/** Rows to read and SQLite file to write. */
export interface Staging {
  source: Exclude<Source, { kind: 'postgres' }>;
  /** Path of the SQLite file to create. */
  database: string;
  after: Position | null;
  invalidKeys: readonly string[];
  malformedRejectIds: readonly string[];
  nowUs: number;
}

const TABLES = `
  PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
  CREATE TABLE rows (time_us INTEGER, sort_key TEXT, key TEXT, is_retry INTEGER, reject_id TEXT, mapping INTEGER, content TEXT) STRICT;
  CREATE TABLE malformed (content TEXT) STRICT;
  BEGIN`;
/** Maximum bytes staged by one run, unless half of the free disk space is less. */
const MAX_STAGED_BYTES = 8_000_000_000;
/** Bytes of a staged row without its content: columns and index. */
const ROW_BYTES = 100;
const INDEX = 'CREATE INDEX rows_in_order ON rows (is_retry, time_us, sort_key); COMMIT';

/**
 * Returns the column names that determine how a row is read. Lines of NDJSON may differ in their properties, so only names used
 * by the source are included. Optional properties need no mapping of their own, and a mapped property may be missing from any line.
 */
const getMappedNames = ({ source }: Staging, names: readonly string[]): readonly string[] => {
  if (source.kind !== 'ndjson') return names;
  const mapped = Object.keys(source.columns ?? {});
  const meant = new Set([...getReservedColumns(source), ...mapped].map((name) => name.toLowerCase()));
  const found = names.filter((name) => meant.has(name.toLowerCase()));
  const present = new Set(found.map((name) => name.toLowerCase()));
  return [...found, ...mapped.filter((name) => !present.has(name.toLowerCase()))].sort();
};

const maxStagedBytes = (folder: string): number => {
  const { bavail, bsize } = statfsSync(folder);
  return Math.min(MAX_STAGED_BYTES, (bavail * bsize) / 2);
};

/**
 * Copies the rows of a run from files into a SQLite file: rows after a position, earlier rejects, and malformed rows. Staging is
 * needed because files are unsorted and may change during reading. Returns the column names of the rows.
 */
export const stage = async (staging: Staging): Promise<(readonly string[])[]> => {
  const { source, database: to, after, nowUs } = staging;
  const invalidKeys = new Set(staging.invalidKeys);
  const malformedRejectIds = new Set(staging.malformedRejectIds);
  const paths = listFiles(source);
  const database = new DatabaseSync(to);
  try {
    database.exec(TABLES);
    const insertRow = database.prepare('INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?, ?)');
    const insertMalformed = database.prepare('INSERT INTO malformed VALUES (?)');
    /** Column names of each mapping, by its number. */
    const columnNames: (readonly string[])[] = [];
    type NumberedMapping = { number: number; mapping: RowMapping } | { reason: string };
    /** Creates a mapping. An NDJSON line without a required column is rejected, but stops a run that erases users. */
    const createMapping = (names: readonly string[]): NumberedMapping => {
      try {
        const mapping = resolveMapping(source, names);
        return { number: columnNames.push(names) - 1, mapping };
      } catch (error) {
        if (source.kind !== 'ndjson' || source.rows === 'deletes' || !(error instanceof SourceError))
          throw error;
        return { reason: error.sentence };
      }
    };
    const mappings = new Map<string, NumberedMapping>();
    /** Returns the mapping of rows with these columns. */
    const getMapping = (all: readonly string[]): NumberedMapping => {
      const names = getMappedNames(staging, all);
      const id = JSON.stringify(names);
      const numbered = mappings.get(id) ?? createMapping(names);
      mappings.set(id, numbered);
      return numbered;
    };
    const pick: PickColumns = (names) => {
      const numbered = getMapping(names);
      return 'reason' in numbered ? [] : numbered.mapping.used;
    };
    const maxBytes = maxStagedBytes(dirname(to));
    let bytes = 0;
    const countStaged = (content: string): string => {
      bytes += content.length + ROW_BYTES;
      if (bytes > maxBytes) {
        const gigabytes = (maxBytes / 1e9).toFixed(1);
        throw new SourceError(`the rows to read take more than ${gigabytes} GB: split the files`);
      }
      return content;
    };
    const stageMalformed = (row: MalformedRow) =>
      insertMalformed.run(countStaged(JSON.stringify({ ...row, payload: shortenPayload(row.payload) })));
    /** Stages a malformed line. Stores its position instead of its content, because an erasure of the user could not find the content. */
    const stageMalformedLine = (lineId: string, reason: string) =>
      stageMalformed({
        rejectId: rejectIdForLine(lineId, ''),
        timeUs: null,
        key: null,
        userIdentifier: null,
        reason,
        payload: lineId,
      });
    const stageRow = (fileRow: FileRow, path: string) => {
      const lineId = fileRow.line === null ? null : `${basename(path)}#${fileRow.line}`;
      if ('reason' in fileRow) {
        stageMalformedLine(lineId!, fileRow.reason);
        return;
      }
      const { names, row } = fileRow;
      const numbered = getMapping(names);
      if ('reason' in numbered) {
        // Only NDJSON rows reach this code, and they have lines.
        stageMalformedLine(lineId!, numbered.reason);
        return;
      }
      const { number, mapping } = numbered;
      const time = parseTimestamp(row.values[mapping.updatedAt] ?? null);
      const key = joinKey(row, mapping.key);
      if (time === null || key === null || time.timeUs > nowUs + MAX_CLOCK_SKEW_US) {
        stageMalformed(malformedRow({ timeUs: time?.timeUs ?? null, key, row, mapping, lineId }));
        return;
      }
      const { timeUs, nanoseconds } = time;
      if (countCharacters(row.values) > MAX_ROW_CHARACTERS) {
        stageMalformed({ ...malformedRow({ timeUs, key, row, mapping, lineId }), reason: ROW_TOO_LARGE });
        return;
      }
      const id = lineId === null ? null : `line:${lineId}`;
      const wasLine = id !== null && malformedRejectIds.has(id);
      const sortKey = toSortKey(nanoseconds, key);
      const isNew = isAfter({ timeUs, sortKey }, after);
      if (timeUs > nowUs || !(isNew || invalidKeys.has(key) || wasLine)) return;
      insertRow.run(
        timeUs,
        sortKey,
        key,
        isNew ? 0 : 1,
        wasLine ? id : null,
        number,
        countStaged(JSON.stringify(row)),
      );
    };
    for (const path of paths) {
      try {
        for await (const row of readRows(source, path, pick)) stageRow(row, path);
      } catch (error) {
        throw SourceError.from(error, `file ${basename(path)}: `);
      }
    }
    database.exec(INDEX);
    return columnNames;
  } finally {
    database.close();
  }
};
