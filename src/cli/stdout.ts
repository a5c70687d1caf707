import { once } from 'node:events';

/** Writes a line to stdout, and resolves when the reader is ready for the next. */
export const writeLine = async (line: string): Promise<void> => {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain');
};
