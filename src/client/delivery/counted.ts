import type { StoreKey } from '../platform/store.ts';
import { VERSION } from './records.ts';

/** Names of the events that count once, the latest last; written in the transaction that stores them. */
export const COUNTED_KEY: StoreKey = ['counted', VERSION];
/** More names than that push out the oldest. */
const MOST = 500;

export const readCounted = (record: unknown): string[] => (Array.isArray(record) ? record : []);

export const mergeCounted = (before: string[], more: string[]): string[] =>
  [...new Set([...before, ...more])].slice(-MOST);
