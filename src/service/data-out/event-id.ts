import { createHash } from 'node:crypto';

/**
 * Returns a UUID (version 8) that is a hash of the parts. Include the contents of a row in addition to its ID, because another
 * row may get the ID after a restore from a backup.
 */
export const hashId = (...parts: (string | number | null)[]): string => {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest().subarray(0, 16);
  hash[6] = (hash[6]! & 0x0f) | 0x80;
  hash[8] = (hash[8]! & 0x3f) | 0x80;
  return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};
