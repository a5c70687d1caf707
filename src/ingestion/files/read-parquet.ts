import { open } from 'node:fs/promises';
import * as zlib from 'node:zlib';
import {
  type AsyncBuffer,
  type Compressors,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
} from 'hyparquet';
import { readRow } from '../read-row.ts';
import type { FileRow, PickColumns } from './file-row.ts';
import { createReader, PARSERS, physical } from './parquet-types.ts';

/** Maximum rows in memory at once. */
const PAGE = 100_000;
const COMPRESSORS: Compressors = {
  GZIP: (input) => zlib.gunzipSync(input),
  BROTLI: (input) => zlib.brotliDecompressSync(input),
  ZSTD: (input) => zlib.zstdDecompressSync(input),
};

/** Reads the rows of a Parquet file. `pick` selects columns by name. */
export async function* readParquet(path: string, pick: PickColumns): AsyncGenerator<FileRow, void> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    const file: AsyncBuffer = {
      byteLength: size,
      async slice(start, end = size) {
        const bytes = new Uint8Array(end - start);
        await handle.read(bytes, 0, bytes.length, start);
        return bytes.buffer;
      },
    };
    const annotated = await parquetMetadataAsync(file);
    const fields = parquetSchema(annotated).children;
    const names = fields.map(({ element }) => element.name);
    const picked = new Set(pick(names));
    const columns = fields
      .filter(({ element }) => picked.has(element.name))
      .map((field) => ({ name: field.element.name, read: createReader(field, annotated) }));
    const options = {
      file,
      metadata: physical(annotated),
      columns: columns.map(({ name }) => name),
      compressors: COMPRESSORS,
      parsers: PARSERS,
      utf8: false,
    };
    let groupStart = 0;
    for (const { num_rows } of annotated.row_groups) {
      const groupEnd = groupStart + Number(num_rows);
      for (let rowStart = groupStart; rowStart < groupEnd; rowStart += PAGE) {
        const rowEnd = Math.min(rowStart + PAGE, groupEnd);
        for (const values of await parquetReadObjects({ ...options, rowStart, rowEnd })) {
          const cells = columns.map(({ name }) => values[name]);
          yield { names, row: readRow(columns, cells), line: null };
        }
      }
      groupStart = groupEnd;
    }
  } finally {
    await handle.close();
  }
}
