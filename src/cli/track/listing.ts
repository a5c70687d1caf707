import { closeSync, openSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';

/** Summary of a listing: number of lines, number of unwritten lines, and write error. */
export interface Listed {
  lines: number;
  lost: number;
  error: Error | undefined;
}

/** List of problems as NDJSON. */
export interface Listing {
  /** Destination as named in messages, such as `on stdout` or `in rejects.ndjson`. */
  name: string;
  /** Adds a problem. `object` is the object with the problem. */
  add(facts: Record<string, unknown>, object?: unknown): void;
  end(): Promise<Listed>;
}

/** Writes a text. Resolves with the error if writing fails, otherwise with `undefined`. */
export const written = (out: Writable, text: string): Promise<Error | undefined> =>
  new Promise((resolve) => out.write(text, (error) => resolve(error ?? undefined)));

/** Creates a listing on a stream, without the objects. A closed pipe or a full disk does not end the command. */
export const streamListing = (out: Writable, name: string): Listing => {
  let lines = 0;
  let lost = 0;
  let error: Error | undefined;
  // Each write reports its own failure, but without a listener an `error` event would end the process.
  out.on('error', () => undefined);
  return {
    name,
    add(facts) {
      lines += 1;
      out.write(`${JSON.stringify(facts)}\n`, (failure) => {
        if (!failure) return;
        lost += 1;
        error ??= failure;
      });
    },
    async end() {
      // Waits for all writes, because a stream completes them in order.
      if (lines > 0) await written(out, '');
      return { lines, lost, error };
    },
  };
};

/**
 * Creates a listing in a file, with the objects. Writes each line synchronously. Throws if the file exists and `goOn` is false.
 */
export const fileListing = (path: string, goOn: boolean): Listing => {
  const file = openSync(path, goOn ? 'a' : 'ax');
  let lines = 0;
  return {
    name: `in ${path}`,
    add(facts, object) {
      lines += 1;
      writeSync(file, `${JSON.stringify({ ...facts, ...(object !== undefined && { object }) })}\n`);
    },
    async end() {
      closeSync(file);
      return { lines, lost: 0, error: undefined };
    },
  };
};
