import { applyCustom } from './apply-custom.ts';
import type { CheckedAttributes } from './check-attributes.ts';
import { isNestedChange } from './check-custom.ts';
import type { Profile, PushToken } from './profile.ts';
import { withTokens } from './push-tokens.ts';
import { resolveUser, writeContacts } from './resolve.ts';
import type { Lookup, UserSet } from './user-set.ts';

/** The e-mail address whose every user gets the subscription states of this object (contract 3.4). */
const spreadTo = ({ identity, groups, standard }: CheckedAttributes): string | null => {
  if (identity?.lookup.by !== 'external_id' || typeof identity.email !== 'string') return null;
  const setsState = groups.length > 0 || standard.some(({ name }) => name === 'email_subscribe');
  return setsState ? identity.email : null;
};

/** Adds everyone this object may read or write. */
export const addAttributeLookups = (checked: CheckedAttributes, lookups: Lookup[]): void => {
  if (checked.identity) lookups.push(checked.identity.lookup);
  const email = spreadTo(checked);
  if (email !== null) lookups.push({ by: 'email', value: email });
  if (checked.isTokenImport) {
    for (const { app_id, token } of checked.pushTokens) {
      lookups.push({ by: 'push_token', value: { app_id, token } });
    }
  }
};

const writeSubscriptions = (profile: Profile, { groups, standard }: CheckedAttributes) => {
  for (const { groupId, state, doubleOptIn } of groups) {
    profile.subscriptionGroups[groupId] = doubleOptIn ? { state, doubleOptIn } : { state };
  }
  for (const { name, value } of standard) if (name === 'email_subscribe') profile.standard[name] = value;
};

const isKnownToken = (users: UserSet, { app_id, token }: PushToken): boolean =>
  users.find({ by: 'push_token', value: { app_id, token } }).length > 0;

/**
 * Applies one object of `attributes` and answers how many custom attributes it wrote. `nestedAllowed` is false when a
 * nested value anywhere in the request was bad.
 */
export const applyAttributes = (
  users: UserSet,
  checked: CheckedAttributes,
  nowMs: number,
  nestedAllowed: boolean,
): number => {
  const { identity } = checked;
  if (!identity) {
    // Nobody is named: a profile for each token, to be merged when its device comes to be known.
    for (const token of checked.pushTokens)
      if (!isKnownToken(users, token)) users.create({ pushTokens: [token] }, nowMs);
    return 0;
  }
  const tokens = checked.isTokenImport
    ? checked.pushTokens.filter((token) => !isKnownToken(users, token))
    : checked.pushTokens;
  const profile = resolveUser(users, identity, nowMs);
  if (!profile) return 0;

  writeContacts(profile, identity);
  for (const { name, value } of checked.standard) {
    if (value === null) delete profile.standard[name];
    else profile.standard[name] = value;
  }
  let written = 0;
  for (const change of checked.custom) {
    if (!nestedAllowed && isNestedChange(change)) continue;
    applyCustom(profile.custom, change, checked.mergeObjects);
    written += 1;
  }
  if (tokens.length > 0) profile.pushTokens = withTokens(profile.pushTokens, tokens);
  if (checked.groups.length > 0) writeSubscriptions(profile, checked);
  profile.updatedAtMs = nowMs;
  users.changed(profile);

  const email = spreadTo(checked);
  if (email !== null) {
    for (const other of users.find({ by: 'email', value: email })) {
      if (other === profile) continue;
      writeSubscriptions(other, checked);
      users.changed(other);
    }
  }
  return written;
};
