import type { Profile } from '../profiles/profile.ts';
import type { UserRepository } from '../profiles/user-repository.ts';
import { mergeProfile } from './merge.ts';
import { findTarget, type Target } from './targets.ts';

export interface Identification {
  externalId: string;
  target: Target;
}

const sharesLabel = (a: Profile, b: Profile): boolean =>
  a.aliases.some(({ alias_label }) => b.aliases.some((alias) => alias.alias_label === alias_label));

/**
 * Gives a profile an external ID. Where that ID has a profile, the two become one: the one that has it is filled up with
 * what it lacks, and what both had done is added up, like their rows of `events`. Nothing happens where both have an alias of
 * the same label.
 */
export const assignExternalId = (
  users: UserRepository,
  found: Profile,
  externalId: string,
  nowMs: number,
): void => {
  const [known] = users.find({ by: 'external_id', value: externalId });
  if (!known) {
    found.externalId = externalId;
    users.changed(found, nowMs);
    return;
  }
  if (sharesLabel(known, found)) return;
  mergeProfile(known, found);
  users.merge(known, found, nowMs);
};

/** Identifies a profile without an external ID. No match and several matches are no errors: nothing happens. */
export const identify = (users: UserRepository, { externalId, target }: Identification, nowMs: number) => {
  const found = findTarget(users, target);
  if (found?.externalId === null) assignExternalId(users, found, externalId, nowMs);
};
