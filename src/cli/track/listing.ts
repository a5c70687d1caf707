import { closeSync, openSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';

/** What was listed: how many lines, how many of them could not be written, and why. */
export interface Listed {
  lines: number;
  lost: number;
  error: Error | undefined;
}

/** A list of problems as NDJSON. */
export interface Listing {
  /** Where the lines are listed: `on stdout`, `in rejects.ndjson`. */
  name: string;
  /** `object` is what the problem is about. */
  add(facts: Record<string, unknown>, object?: unknown): void;
  end(): Promise<Listed>;
}

/** Resolves when the text was written, or with the error where it could not be. */
export const written = (out: Writable, text: string): Promise<Error | undefined> =>
  new Promise((resolve) => out.write(text, (error) => resolve(error ?? undefined)));

/** Lists on a stream. A reader that goes away, or a full disk, does not end the work; the objects are left out. */
export const streamListing = (out: Writable, name: string): Listing => {
  let lines = 0;
  let lost = 0;
  let error: Error | undefined;
  // Each write gets its own failure; an event without a listener would end the process.
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
      // A stream ends its writes in their order.
      if (lines > 0) await written(out, '');
      return { lines, lost, error };
    },
  };
};

/** Lists in a file, with the objects, each line at once. Throws where the file exists, unless it is gone on with. */
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
