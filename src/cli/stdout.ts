import { once } from 'node:events';

/** Writes a line to stdout. Resolves when the stream accepts more. */
export const writeLine = async (line: string): Promise<void> => {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain');
};
