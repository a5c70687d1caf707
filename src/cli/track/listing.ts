import { closeSync, openSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';

/** Summary of a listing: lines, lines that could not be written, and the error. */
export interface Listed {
  lines: number;
  lost: number;
  error: Error | undefined;
}

/** A list of problems as NDJSON. */
export interface Listing {
  /** Destination for messages: `on stdout`, `in rejects.ndjson`. */
  name: string;
  /** `object` is the object with the problem. */
  add(facts: Record<string, unknown>, object?: unknown): void;
  end(): Promise<Listed>;
}

/** Resolves after the text was written, with an error if it could not be. */
export const written = (out: Writable, text: string): Promise<Error | undefined> =>
  new Promise((resolve) => out.write(text, (error) => resolve(error ?? undefined)));

/** Lists problems on a stream, without the objects. A closed pipe or a full disk does not end the command. */
export const streamListing = (out: Writable, name: string): Listing => {
  let lines = 0;
  let lost = 0;
  let error: Error | undefined;
  // Each write reports its own failure; an `error` event without a listener would end the process.
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
      // A stream completes its writes in order.
      if (lines > 0) await written(out, '');
      return { lines, lost, error };
    },
  };
};

/**
 * Lists problems in a file, with the objects, one synchronous write per line. Throws if the file exists, unless `goOn` is set.
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
