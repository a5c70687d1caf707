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
 * Assigns an external ID to a profile. If a profile with that ID exists, fills in its missing values, and adds up the activity
 * and the `events` of both. Has no effect if both have an alias with the same label.
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

/** Identifies a profile without an external ID. Has no effect if no profile or several profiles match, which is not an error. */
export const identify = (users: UserRepository, { externalId, target }: Identification, nowMs: number) => {
  const found = findTarget(users, target);
  if (found?.externalId === null) assignExternalId(users, found, externalId, nowMs);
};
