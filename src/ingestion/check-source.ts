import { checkRow, type Source, type Workspace } from '../service/index.ts';
import { openSource } from './source.ts';

/** Row of a source as it would be sent, with its problem; `null` if valid. */
export interface CheckedSourceRow {
  object: unknown;
  problem: string | null;
}

const ROWS = 3;

/** Returns the first rows of a source. Stores nothing. Throws if the source is unavailable or a column is missing. */
export const checkSource = async (workspace: Workspace, source: Source): Promise<CheckedSourceRow[]> => {
  const { signal } = new AbortController();
  const nowMs = Date.now();
  const snapshot = await openSource(source, {
    after: null,
    invalidKeys: [],
    malformedRejectIds: [],
    nowMs,
    signal,
  });
  try {
    const checked: CheckedSourceRow[] = [];
    for await (const row of snapshot.rows()) {
      const mapped = row.mapping.toObject(row);
      if ('reason' in mapped) checked.push({ object: row.values, problem: mapped.reason });
      else {
        const checkedRow = checkRow(source.rows, mapped.object, workspace, nowMs);
        checked.push({ object: mapped.object, problem: 'reason' in checkedRow ? checkedRow.reason : null });
      }
      if (checked.length === ROWS) break;
    }
    if (checked.length > 0) return checked;
    for await (const { payload, reason } of snapshot.malformed()) {
      checked.push({ object: payload, problem: reason });
      if (checked.length === ROWS) break;
    }
    return checked;
  } finally {
    await snapshot.close();
  }
};
