import type { Identity } from './check-identity.ts';
import type { Profile } from './profile.ts';
import type { UserSet } from './user-set.ts';

/** Negative when `a` was updated later; of two updated at once, when it was created later. */
export const latestFirst = (a: Profile, b: Profile): number =>
  b.updatedAtMs - a.updatedAtMs || b.createdAtMs - a.createdAtMs || (a.brazeId < b.brazeId ? 1 : -1);

/**
 * Of several profiles with one e-mail or phone, the one that is written (contract 4.3): the latest updated among those
 * with an external ID, or of all where none has one.
 */
export const chooseOne = (profiles: Profile[]): Profile | null => {
  if (profiles.length < 2) return profiles[0] ?? null;
  const identified = profiles.filter((profile) => profile.externalId !== null);
  return (identified.length > 0 ? identified : profiles).toSorted(latestFirst)[0] ?? null;
};

/**
 * The profile an object is about, made where there is none and contract 4.2 says so; `null` where nothing is to
 * happen, which is no error.
 */
export const resolveUser = (users: UserSet, identity: Identity, nowMs: number): Profile | null => {
  const { lookup, updateExistingOnly } = identity;
  const found = chooseOne(users.find(lookup));
  if (found || updateExistingOnly === true) return found;
  switch (lookup.by) {
    case 'external_id':
      return users.create({ externalId: lookup.value }, nowMs);
    case 'user_alias':
      return updateExistingOnly === false ? users.create({ aliases: [lookup.value] }, nowMs) : null;
    case 'email':
      return users.create({ email: lookup.value }, nowMs);
    case 'phone':
      return users.create({ phone: lookup.value }, nowMs);
    default:
      // IDs are ours to give: a profile for one that we never gave gets an ID of its own.
      return users.create({}, nowMs);
  }
};

/** E-mail and phone that stand beside the identifier become the profile's. */
export const writeContacts = (profile: Profile, { email, phone }: Identity): void => {
  if (email !== undefined) profile.email = email;
  if (phone !== undefined) profile.phone = phone;
};
