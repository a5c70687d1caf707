import { createReadStream, statSync } from 'node:fs';
import { INPUT_ARRAYS, isInputArray } from '../../protocol/index.ts';
import { csvRows } from './csv-rows.ts';
import type { InputLine } from './input-line.ts';
import { ndjsonLines } from './ndjson-lines.ts';

interface TrackInputOptions {
  /** Path of the input; `-` is stdin. */
  file: string;
  /** Array of the CSV rows; `undefined` for NDJSON. */
  as: string | undefined;
  delimiter: string | undefined;
  /** Stops reading after the current line. */
  stop: AbortSignal;
}

/** Opens an input. Throws before anything is sent if it is invalid. */
export const openTrackInput = ({ file, as, delimiter = ',', stop }: TrackInputOptions) => {
  if (as !== undefined && !isInputArray(as)) {
    throw new Error(`--as must be ${INPUT_ARRAYS.join(', ')}, got "${as}"`);
  }
  if (as === undefined && /\.csv$/i.test(file)) {
    throw new Error(`${file} is a CSV: set the type of its rows with --as attributes, events or purchases`);
  }
  if (Buffer.byteLength(delimiter) !== 1)
    throw new Error(`--delimiter must be one character, got "${delimiter}"`);
  const stats = file === '-' ? null : statSync(file);
  if (stats?.isDirectory()) throw new Error(`${file} is a folder; name a file`);
  let readBytes = 0;
  async function* counted(): AsyncGenerator<Buffer, void> {
    stop.throwIfAborted();
    // The reader creates the stream, because a stream without a reader ends the process if its file cannot be opened.
    const stream: AsyncIterable<Buffer> & { destroy(): unknown } =
      file === '-' ? process.stdin : createReadStream(file);
    // Destroys the stream, because an idle terminal or pipe would otherwise block the end of reading.
    stop.addEventListener('abort', () => stream.destroy());
    for await (const chunk of stream) {
      readBytes += chunk.length;
      yield chunk;
    }
  }
  let isCut = false;
  const readLines = () =>
    as === undefined ? ndjsonLines(counted()) : csvRows(counted(), { array: as, delimiter });

  return {
    /** Input format, recorded in the resume file. */
    format: as === undefined ? 'ndjson' : `csv ${as} ${delimiter}`,
    readBytes: () => readBytes,
    /** Size of the input; `null` if unknown (stdin or a pipe). */
    totalBytes: stats?.isFile() ? stats.size : null,
    /** Returns whether `stop` ended the input early. */
    isCut: () => isCut,
    /** Yields lines until the end or until `stop`. */
    async *lines(): AsyncGenerator<InputLine, void> {
      try {
        for await (const line of readLines()) {
          isCut = stop.aborted;
          if (isCut) return;
          yield line;
        }
      } catch (error) {
        // A stream that is destroyed before its end throws.
        isCut = stop.aborted;
        if (!isCut) throw error;
      }
    },
  };
};
