import { type Profile, type PushToken, setUpdated } from '../profiles/profile.ts';
import type { Lookup, UserSet } from '../profiles/user-set.ts';
import { createCustomWriter } from './apply-custom.ts';
import { isNestedChange } from './check-custom.ts';
import type { CheckedAttributes } from './check-objects.ts';
import type { UserFinder } from './find-user.ts';
import { createUser, writeContacts } from './find-user.ts';
import { withTokens } from './push-tokens.ts';
import { createPropagation, propagatesTo, writeGroup } from './subscriptions.ts';

/** Adds everyone this object may read or write. */
export const addAttributeLookups = (checked: CheckedAttributes, lookups: Lookup[]): void => {
  if (checked.identity) lookups.push(checked.identity.lookup);
  const email = propagatesTo(checked);
  if (email !== null) lookups.push({ by: 'email', value: email });
  if (checked.isTokenImport) {
    for (const { app_id, token } of checked.pushTokens) {
      lookups.push({ by: 'push_token', value: { app_id, token } });
    }
  }
};

const isKnownToken = (users: UserSet, { app_id, token }: PushToken): boolean =>
  users.find({ by: 'push_token', value: { app_id, token } }).length > 0;

/** Writes what an object says of its profile and answers how many custom attributes that was. */
const writeAttributes = (
  profile: Profile,
  { standard, custom, mergeObjects, groups }: CheckedAttributes,
  nestedAllowed: boolean,
  writer: ReturnType<typeof createCustomWriter>,
): number => {
  for (const { name, value } of standard) {
    if (value === null) delete profile.standard[name];
    else profile.standard[name] = value;
  }
  let written = 0;
  for (const change of custom) {
    if (!nestedAllowed && isNestedChange(change)) continue;
    writer.write(profile.custom, change, mergeObjects);
    written += 1;
  }
  for (const group of groups) writeGroup(profile, group);
  return written;
};

/**
 * Applies the objects of `attributes` one after the other and answers how many custom attributes they wrote.
 * `nestedAllowed` is false when a nested value anywhere in the request was bad.
 */
export const applyAttributes = (
  users: UserSet,
  attributes: readonly CheckedAttributes[],
  { finder, nowMs, nestedAllowed }: { finder: UserFinder; nowMs: number; nestedAllowed: boolean },
): number => {
  const propagation = createPropagation(users);
  const writer = createCustomWriter();
  let written = 0;
  for (const checked of attributes) {
    const { identity, pushTokens } = checked;
    if (!identity) {
      // The object names no user: a profile for each token, to be merged once its device is known.
      for (const token of pushTokens)
        if (!isKnownToken(users, token)) users.create({ pushTokens: [token] }, nowMs);
      continue;
    }
    const tokens = checked.isTokenImport
      ? pushTokens.filter((token) => !isKnownToken(users, token))
      : pushTokens;
    const found = finder.find(identity);
    if (found) propagation.reach(found);
    const profile = found ?? createUser(users, identity, nowMs);
    if (!profile) continue;
    writeContacts(profile, identity);
    written += writeAttributes(profile, checked, nestedAllowed, writer);
    if (tokens.length > 0) profile.pushTokens = withTokens(profile.pushTokens, tokens);
    setUpdated(profile, nowMs);
    users.changed(profile);
    finder.changed(profile);
    propagation.passed(profile, checked);
  }
  propagation.finish();
  writer.finish();
  return written;
};
