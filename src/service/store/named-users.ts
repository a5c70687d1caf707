import { lookupKey } from '../profiles/user-key.ts';
import type { Lookup } from '../profiles/user-set.ts';
import type { Work } from './apply-works.ts';

/** What works name users by: lookups by workspace and key, each once. */
export type Named = Map<string, { workspaceId: string; key: string; lookup: Lookup }>;

export const nameOf = (workspaceId: string, key: string) => `${workspaceId} ${key}`;

/** Without the lookups that `isKnown` knows. */
export const namedBy = (
  works: Iterable<Pick<Work, 'workspaceId' | 'lookups'>>,
  isKnown: (workspaceId: string, lookup: Lookup) => boolean = () => false,
): Named => {
  const named: Named = new Map();
  for (const { workspaceId, lookups } of works) {
    for (const lookup of lookups) {
      if (isKnown(workspaceId, lookup)) continue;
      const key = lookupKey(lookup);
      const name = nameOf(workspaceId, key);
      if (!named.has(name)) named.set(name, { workspaceId, key, lookup });
    }
  }
  return named;
};
