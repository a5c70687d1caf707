import { threadCpuUsage } from 'node:process';
import { median } from './figures.ts';

/** CPU time of `measureReferenceWork` at reference speed, in milliseconds. */
export const REFERENCE_MS = 12;

const TEXT = JSON.stringify(
  Array.from({ length: 4_000 }, (_, at) => ({
    id: `u-${at}`,
    at,
    tags: ['x', `y${at}`],
    text: 'x'.repeat(99),
  })),
);

/** Returns the CPU time of this thread in milliseconds. */
export const getThreadCpuMs = (): number => {
  const { user, system } = threadCpuUsage();
  return (user + system) / 1_000;
};

/** Returns the CPU time in milliseconds to parse and serialize 0.6 MB of JSON twice. */
export const measureReferenceWork = (): number => {
  const before = getThreadCpuMs();
  for (let round = 0; round < 2; round += 1) JSON.stringify(JSON.parse(TEXT));
  return getThreadCpuMs() - before;
};

/**
 * Converts CPU time to reference speed, because the speed of a shared machine varies threefold. `referenceMs` are times of
 * the reference work, measured beside it.
 */
export const toReferenceSpeed = (ms: number, referenceMs: number[]): number =>
  (ms * REFERENCE_MS) / median(referenceMs);
