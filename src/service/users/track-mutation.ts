import { MAX_EVENT_NAMES, tooManyPushTokens } from '../../protocol/index.ts';
import type { Lookup } from '../profiles/lookup.ts';
import { createKeyQuota, type KeyQuota, type Profile, type PushToken } from '../profiles/profile.ts';
import type { UserRepository } from '../profiles/user-repository.ts';
import type { UserMutation } from '../store/store.ts';
import { createCustomWriter } from './apply-custom.ts';
import { isNestedChange } from './check-custom.ts';
import type { CheckedAttributes, CheckedEvent } from './check-objects.ts';
import { dayOf } from './dates.ts';
import { createUser, createUserFinder, type UserFinder, writeContacts } from './find-user.ts';
import { addTokens } from './push-tokens.ts';
import { createPropagation, propagatesTo, writeSubscription } from './subscriptions.ts';

interface Request {
  finder: UserFinder;
  names: KeyQuota;
  nowMs: number;
}

/**
 * Records one event or purchase with the user it is about. `ignored` is where contract 4.2 says that nothing happens, `refused`
 * where the user has too many names (contract, `BLACKLISTED_EXTERNAL_USER_ID`).
 */
const recordEvent = (
  users: UserRepository,
  checked: CheckedEvent,
  { finder, names, nowMs }: Request,
): 'recorded' | 'ignored' | 'refused' => {
  const { identity, event } = checked;
  const profile = finder.find(identity) ?? createUser(users, identity, nowMs);
  if (!profile) return 'ignored';
  const [tallies, name] =
    event.kind === 'event' ? [profile.events, event.name] : [profile.purchases, event.productId];
  if (names.isOneTooMany(tallies, name, MAX_EVENT_NAMES)) return 'refused';
  writeContacts(profile, identity);
  users.record(profile, event);
  finder.changed(profile);
  return 'recorded';
};

/** Adds the lookups of all users whom this object may read or write. */
const addAttributeLookups = (checked: CheckedAttributes, lookups: Lookup[]): void => {
  if (checked.identity) lookups.push(checked.identity.lookup);
  const email = propagatesTo(checked);
  if (email !== null) lookups.push({ by: 'email', value: email });
  if (checked.isTokenImport) {
    for (const { app_id, token } of checked.pushTokens) {
      lookups.push({ by: 'push_token', value: { app_id, token } });
    }
  }
};

const isKnownToken = (users: UserRepository, { app_id, token }: PushToken): boolean =>
  users.find({ by: 'push_token', value: { app_id, token } }).length > 0;

/** Writes the attributes of an object into a profile. Returns how many custom attributes it has written, and why it has not written others. */
const writeAttributes = (
  profile: Profile,
  { standard, custom, mergeObjects, groups }: CheckedAttributes,
  nestedAllowed: boolean,
  writer: ReturnType<typeof createCustomWriter>,
): { written: number; problems: string[] } => {
  for (const { name, value } of standard) {
    if (value === null) delete profile.standard[name];
    else profile.standard[name] = value;
  }
  let written = 0;
  const problems: string[] = [];
  for (const change of custom) {
    if (!nestedAllowed && isNestedChange(change)) continue;
    const problem = writer.write(profile.custom, change, mergeObjects);
    if (problem === null) written += 1;
    else problems.push(problem);
  }
  for (const group of groups) writeSubscription(profile, group);
  return { written, problems };
};

/** What only the profile could tell. `position` is that of the object, among the attributes or the events of the work. */
export type ProfileFault =
  /** The user has too many attributes or tokens, or the request updates more than it may. The rest of the object is stored. */
  | { of: 'attributes'; position: number; problems: string[] }
  /** The user has too many names of events, or of products. */
  | { of: 'events'; position: number };

/**
 * Applies the objects of `attributes` one after the other. Returns how many custom attributes they have written, and adds to `faults`.
 * `nestedAllowed` is false where a nested value anywhere in the request was bad.
 */
const applyAttributes = (
  users: UserRepository,
  attributes: readonly CheckedAttributes[],
  {
    finder,
    nowMs,
    nestedAllowed,
    names,
    faults,
  }: Request & { nestedAllowed: boolean; faults: ProfileFault[] },
): number => {
  const propagation = createPropagation(users, finder);
  const writer = createCustomWriter(names);
  let written = 0;
  for (const [position, checked] of attributes.entries()) {
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
    const done = writeAttributes(profile, checked, nestedAllowed, writer);
    written += done.written;
    if (tokens.length > 0 && !addTokens(profile, tokens)) done.problems.push(tooManyPushTokens());
    if (done.problems.length > 0) faults.push({ of: 'attributes', position, problems: done.problems });
    finder.changed(profile);
    propagation.passed(profile, checked);
  }
  propagation.finish();
  writer.finish();
  return written;
};

/** What a request of `/users/track` does, after every check. */
export interface Track {
  workspaceId: string;
  /** When the request came, in Unix milliseconds. */
  nowMs: number;
  attributes: CheckedAttributes[];
  /** Events, then purchases. */
  events: CheckedEvent[];
}

/** Applies attributes, then events, then purchases. `names` is the count of the request. */
export const applyTrack = (
  users: UserRepository,
  { nowMs, attributes, events }: Omit<Track, 'workspaceId'>,
  names = createKeyQuota(),
): ProfileFault[] => {
  // One bad nested value costs the whole request its nested changes (contract 3.6).
  const nestedAllowed = !attributes.some(({ hasBadNested }) => hasBadNested);
  const finder = createUserFinder(users, nowMs);
  const faults: ProfileFault[] = [];
  let points = applyAttributes(users, attributes, { finder, nowMs, nestedAllowed, names, faults });
  for (const [position, event] of events.entries()) {
    const outcome = recordEvent(users, event, { finder, names, nowMs });
    if (outcome === 'recorded') points += 1;
    if (outcome === 'refused') faults.push({ of: 'events', position });
  }
  if (points > 0) users.addDataPoints(points, dayOf(nowMs));
  return faults;
};

export const trackMutation = (track: Track): UserMutation<ProfileFault[]> => {
  const { workspaceId, nowMs, attributes, events } = track;
  const lookups: Lookup[] = [];
  for (const checked of attributes) addAttributeLookups(checked, lookups);
  for (const { identity } of events) lookups.push(identity.lookup);
  return { workspaceId, lookups, nowMs, apply: (users) => applyTrack(users, track) };
};
