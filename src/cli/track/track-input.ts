import { createReadStream, statSync } from 'node:fs';
import { INPUT_ARRAYS, isInputArray } from '../../protocol/index.ts';
import { csvRows } from './csv-rows.ts';
import type { InputLine } from './input-line.ts';
import { ndjsonLines } from './ndjson-lines.ts';

interface TrackInputOptions {
  /** `-` is stdin. */
  file: string;
  /** What the rows of a CSV are; `undefined` for NDJSON. */
  as: string | undefined;
  delimiter: string | undefined;
  /** Reading ends with the line that it is at. */
  stop: AbortSignal;
}

/** Opens an input. Throws where it cannot be one, before anything is sent. */
export const openTrackInput = ({ file, as, delimiter = ',', stop }: TrackInputOptions) => {
  if (as !== undefined && !isInputArray(as)) {
    throw new Error(`--as must be ${INPUT_ARRAYS.join(', ')}, got "${as}"`);
  }
  if (as === undefined && /\.csv$/i.test(file)) {
    throw new Error(`${file} is a CSV: say what its rows are, with --as attributes, events or purchases`);
  }
  if (Buffer.byteLength(delimiter) !== 1)
    throw new Error(`--delimiter must be one character, got "${delimiter}"`);
  const stats = file === '-' ? null : statSync(file);
  if (stats?.isDirectory()) throw new Error(`${file} is a folder; name a file`);
  let readBytes = 0;
  async function* counted(): AsyncGenerator<Buffer, void> {
    stop.throwIfAborted();
    // Opened by its reader: a stream that nobody reads ends the process when its file cannot be opened.
    const stream: AsyncIterable<Buffer> & { destroy(): unknown } =
      file === '-' ? process.stdin : createReadStream(file);
    // The input may be silent, as a terminal is: reading must end then too.
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
    /** How the input is read, in a word or two. */
    format: as === undefined ? 'ndjson' : `csv ${as} ${delimiter}`,
    readBytes: () => readBytes,
    /** `null` where the input has no known end: stdin, a pipe. */
    totalBytes: stats?.isFile() ? stats.size : null,
    /** Whether `stop` has ended it before its own end. */
    isCut: () => isCut,
    /** Its lines, up to the end or to `stop`. */
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
