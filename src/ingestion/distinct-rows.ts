import type { SourceRow } from './source-row.ts';

/** Skips rows with the same time, key and values as an earlier row, because files overlap and joins repeat rows. */
export async function* distinctRows(rows: AsyncIterable<SourceRow>): AsyncGenerator<SourceRow, void> {
  let first: SourceRow | null = null;
  let seen = new Set<string>();
  for await (const row of rows) {
    // Rows are sorted, so only neighbors can be equal.
    if (first?.timeUs !== row.timeUs || first.sortKey !== row.sortKey) {
      first = row;
      seen = new Set();
    } else {
      if (seen.size === 0) seen.add(JSON.stringify(first.values));
      const content = JSON.stringify(row.values);
      if (seen.has(content)) continue;
      seen.add(content);
    }
    yield row;
  }
}
