import type { Profile } from '../../profiles/profile.ts';
import { readProfile, writeProfile } from '../../profiles/profile-text.ts';
import type { Lookup, UserSet } from '../../profiles/user-set.ts';
import type { Changes } from '../entry.ts';
import { createWorkingSet } from '../working-set.ts';

export interface Originals {
  newId(nowMs: number): string;
  look(workspaceId: string, lookups: Lookup[]): Iterable<Profile>;
}

/** A profile that nobody else holds. */
export const copyOf = (profile: Readonly<Profile>): Profile => readProfile(writeProfile(profile));

/**
 * Does a work on copies: where it is not stored, nothing has to be taken back. What it did is for the rows themselves,
 * which then are not behind.
 */
export const doOnCopies = <T>(
  workspaceId: string,
  apply: (users: UserSet) => T,
  { newId, look }: Originals,
): { result: T; changes: Changes } => {
  const copies = createWorkingSet({
    newId,
    load: (_, lookup) => [...look(workspaceId, [lookup])].map(copyOf),
  });
  const result = apply(copies.users(workspaceId));
  const changes = copies.take();
  for (const done of changes.entries) if (done.change !== 'removed') done.change = 'whole';
  return { result, changes };
};
