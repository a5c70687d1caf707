import type { Writable } from 'node:stream';

/** Lines of NDJSON for whoever reads `out`, where their going away, or a full disk, must not end the work. */
export interface Listing {
  add(facts: Record<string, unknown>): void;
  /** Resolves when every line was written or could not be: how many there were, and what nobody has of them and why. */
  end(): Promise<{ lines: number; lost: number; error: Error | undefined }>;
}

/** Resolves when the text was written, or with the error where it could not be. */
export const written = (out: Writable, text: string): Promise<Error | undefined> =>
  new Promise((resolve) => out.write(text, (error) => resolve(error ?? undefined)));

export const createListing = (out: Writable): Listing => {
  let lines = 0;
  let lost = 0;
  let error: Error | undefined;
  // Each write hears of its own failure; one that nobody listens for would end the process.
  out.on('error', () => undefined);
  return {
    add(facts) {
      lines += 1;
      out.write(`${JSON.stringify(facts)}\n`, (failure) => {
        if (!failure) return;
        lost += 1;
        error ??= failure;
      });
    },
    async end() {
      // A stream hears of its writes in their order.
      if (lines > 0) await written(out, '');
      return { lines, lost, error };
    },
  };
};
