import { MAX_EVENT_NAMES, tooManyPushTokens } from '../../protocol/index.ts';
import type { Lookup } from '../profiles/lookup.ts';
import { createKeyQuota, type KeyQuota, type Profile, type PushToken } from '../profiles/profile.ts';
import type { UserRepository } from '../profiles/user-repository.ts';
import type { UserMutation } from '../store/store.ts';
import { createCustomWriter } from './apply-custom.ts';
import { isNestedChange } from './check-custom.ts';
import type { CheckedAttributes, CheckedEvent } from './check-objects.ts';
import { formatDay } from './dates.ts';
import { createUser, createUserFinder, type UserFinder, writeContacts } from './find-user.ts';
import { addTokens } from './push-tokens.ts';
import { createPropagation, propagatesTo, writeSubscription } from './subscriptions.ts';

interface ApplyContext {
  finder: UserFinder;
  keyQuota: KeyQuota;
  nowMs: number;
}

/**
 * Records one event or purchase of a user. Returns `ignored` if contract 4.2 ignores it, and `rejected` if the user has too many
 * names (contract, `BLACKLISTED_EXTERNAL_USER_ID`).
 */
const recordEvent = (
  users: UserRepository,
  checked: CheckedEvent,
  { finder, keyQuota, nowMs }: ApplyContext,
): 'recorded' | 'ignored' | 'rejected' => {
  const { identity, event } = checked;
  const profile = finder.find(identity) ?? createUser(users, identity, nowMs);
  if (!profile) return 'ignored';
  const [stats, name] =
    event.kind === 'event' ? [profile.events, event.name] : [profile.purchases, event.productId];
  if (!keyQuota.tryReserve(stats, name, MAX_EVENT_NAMES)) return 'rejected';
  writeContacts(profile, identity);
  users.record(profile, event);
  finder.changed(profile);
  return 'recorded';
};

/** Adds the lookups of every user that this object may read or write. */
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

/**
 * Writes the attributes of an object to a profile. Returns the number of custom attributes written, and the errors of the
 * others.
 */
const writeAttributes = (
  profile: Profile,
  { standard, custom, mergeObjects, groups }: CheckedAttributes,
  nestedAllowed: boolean,
  writer: ReturnType<typeof createCustomWriter>,
): { written: number; errors: string[] } => {
  for (const { name, value } of standard) {
    if (value === null) delete profile.standard[name];
    else profile.standard[name] = value;
  }
  let written = 0;
  const errors: string[] = [];
  for (const change of custom) {
    if (!nestedAllowed && isNestedChange(change)) continue;
    const error = writer.write(profile.custom, change, mergeObjects);
    if (error === null) written += 1;
    else errors.push(error);
  }
  for (const group of groups) writeSubscription(profile, group);
  return { written, errors };
};

/** Error that depends on the profile. `index` is relative to the attributes or events. */
export type ProfileError =
  /**
   * The user has too many attributes or tokens, or the request exceeds its update limit. Other values of the object are stored.
   */
  | { array: 'attributes'; index: number; errors: string[] }
  /** The user has too many event names or products. */
  | { array: 'events'; index: number };

/**
 * Applies the objects of `attributes` in order. Adds errors to `profileErrors`. `nestedAllowed` is `false` if the request has an
 * invalid nested value. Returns the number of custom attributes written.
 */
const applyAttributes = (
  users: UserRepository,
  attributes: readonly CheckedAttributes[],
  {
    finder,
    nowMs,
    nestedAllowed,
    keyQuota,
    profileErrors,
  }: ApplyContext & { nestedAllowed: boolean; profileErrors: ProfileError[] },
): number => {
  const propagation = createPropagation(users, finder);
  const writer = createCustomWriter(keyQuota);
  let written = 0;
  for (const [index, checked] of attributes.entries()) {
    const { identity, pushTokens } = checked;
    if (!identity) {
      // The object does not identify a user. Creates a profile per token, which can be merged once its device is known.
      for (const token of pushTokens)
        if (!isKnownToken(users, token)) users.create({ pushTokens: [token] }, nowMs);
      continue;
    }
    const tokens = checked.isTokenImport
      ? pushTokens.filter((token) => !isKnownToken(users, token))
      : pushTokens;
    const found = finder.find(identity);
    if (found) propagation.propagateTo(found);
    const profile = found ?? createUser(users, identity, nowMs);
    if (!profile) continue;
    writeContacts(profile, identity);
    const done = writeAttributes(profile, checked, nestedAllowed, writer);
    written += done.written;
    if (tokens.length > 0 && !addTokens(profile, tokens)) done.errors.push(tooManyPushTokens());
    if (done.errors.length > 0) profileErrors.push({ array: 'attributes', index, errors: done.errors });
    finder.changed(profile);
    propagation.recordStates(profile, checked);
  }
  propagation.finish();
  writer.finish();
  return written;
};

/** Checked request of `/users/track`. */
export interface CheckedTrack {
  workspaceId: string;
  /** Time of the request in Unix milliseconds. */
  nowMs: number;
  attributes: CheckedAttributes[];
  /** Events, then purchases. */
  events: CheckedEvent[];
}

/** Applies attributes, then events, then purchases. `keyQuota` is the request's key quota. */
export const applyTrack = (
  users: UserRepository,
  { nowMs, attributes, events }: Omit<CheckedTrack, 'workspaceId'>,
  keyQuota = createKeyQuota(),
): ProfileError[] => {
  // One invalid nested value drops every nested change of the request (contract 3.6).
  const nestedAllowed = !attributes.some(({ hasBadNested }) => hasBadNested);
  const finder = createUserFinder(users, nowMs);
  const profileErrors: ProfileError[] = [];
  let points = applyAttributes(users, attributes, { finder, nowMs, nestedAllowed, keyQuota, profileErrors });
  for (const [index, event] of events.entries()) {
    const outcome = recordEvent(users, event, { finder, keyQuota, nowMs });
    if (outcome === 'recorded') points += 1;
    if (outcome === 'rejected') profileErrors.push({ array: 'events', index });
  }
  if (points > 0) users.addDataPoints(points, formatDay(nowMs));
  return profileErrors;
};

export const trackMutation = (track: CheckedTrack): UserMutation<ProfileError[]> => {
  const { workspaceId, nowMs, attributes, events } = track;
  const lookups: Lookup[] = [];
  for (const checked of attributes) addAttributeLookups(checked, lookups);
  for (const { identity } of events) lookups.push(identity.lookup);
  return { workspaceId, lookups, nowMs, apply: (users) => applyTrack(users, track) };
};
