import { createHash, randomInt } from 'node:crypto';
import { comparableEmail, comparablePhone, type Identifier, type UserAlias } from '../../protocol/index.ts';
import type { Profile, PushToken } from './profile.ts';

/** Query for users by an identifier. Lookups compare `email` in lower case and `phone` without separators. */
export type Lookup =
  | Identifier
  | { by: 'device_id'; value: string }
  | { by: 'push_token'; value: Pick<PushToken, 'app_id' | 'token'> };

/** Maximum length of an identifier, because an index entry of PostgreSQL has at most 2,704 bytes, including workspace and user. */
const MAX_CHARACTERS = 1_000;
const MAX_BYTES = 2_400;
/** Maximum bytes of UTF-8 per UTF-16 code unit. */
const MAX_UNIT_BYTES = 3;

const isTooLong = (value: string): boolean =>
  value.length > MAX_CHARACTERS ||
  (value.length * MAX_UNIT_BYTES > MAX_BYTES && Buffer.byteLength(value) > MAX_BYTES);

/** Returns an identifier as text. Replaces a long value with its hash, which `#` marks. */
const formatIdentifier = (kind: string, value: string): string =>
  isTooLong(value) ? `${kind}#${createHash('sha256').update(value).digest('hex')}` : `${kind}:${value}`;

const formatAlias = (alias: UserAlias): string =>
  formatIdentifier('alias', JSON.stringify([alias.alias_label, alias.alias_name]));

const formatToken = (token: Pick<PushToken, 'app_id' | 'token'>): string =>
  formatIdentifier('push_token', JSON.stringify([token.app_id, token.token]));

/** Returns the identifier of a lookup as in `user_identifiers`, which is the kind followed by the normalized value. */
export const toIdentifier = (lookup: Lookup): string => {
  switch (lookup.by) {
    case 'external_id':
      return formatIdentifier('external_id', lookup.value);
    case 'user_alias':
      return formatAlias(lookup.value);
    case 'email':
      return formatIdentifier('email', comparableEmail(lookup.value));
    case 'phone':
      return formatIdentifier('phone', comparablePhone(lookup.value));
    case 'push_token':
      return formatToken(lookup.value);
    case 'device_id':
      return formatIdentifier('device_id', lookup.value);
    case 'braze_id':
      return formatIdentifier('braze_id', lookup.value);
  }
};

/** Fields of a profile that identify the user. */
export type IdentifyingFields = Pick<Profile, 'externalId' | 'email' | 'phone' | 'aliases' | 'pushTokens'>;

/** Returns the identifiers of the email address and the phone number. */
export const toAddressIdentifiers = ({ email, phone }: Pick<Profile, 'email' | 'phone'>): string[] => {
  const identifiers: string[] = [];
  if (email !== null) identifiers.push(formatIdentifier('email', comparableEmail(email)));
  if (phone !== null) identifiers.push(formatIdentifier('phone', comparablePhone(phone)));
  return identifiers;
};

/** Returns the identifiers that users may share, which are all identifiers except the external ID's. */
export const toSharedIdentifiers = (fields: IdentifyingFields): string[] => {
  const identifiers = toAddressIdentifiers(fields);
  for (const alias of fields.aliases) identifiers.push(formatAlias(alias));
  for (const token of fields.pushTokens)
    identifiers.push(formatToken(token), formatIdentifier('device_id', token.device_id));
  return identifiers;
};

/** Returns all identifiers of a profile, except the identifier of its user ID. */
export const toIdentifiers = (fields: IdentifyingFields): string[] => {
  const identifiers = toSharedIdentifiers(fields);
  if (fields.externalId !== null) identifiers.push(formatIdentifier('external_id', fields.externalId));
  return identifiers;
};

/** Returns all identifiers by which a rejected row can name the user. */
export const toRejectIdentifiers = (userId: number, fields: IdentifyingFields): string[] => {
  const identifiers = [
    formatIdentifier('braze_id', String(userId)),
    ...toAddressIdentifiers(fields),
    ...fields.aliases.map(formatAlias),
  ];
  if (fields.externalId !== null) identifiers.push(formatIdentifier('external_id', fields.externalId));
  return identifiers;
};

/** Whether the lookup matches the profile. */
export const matchesLookup = (profile: Profile, lookup: Lookup): boolean => {
  switch (lookup.by) {
    case 'external_id':
      return profile.externalId === lookup.value;
    case 'user_alias':
      return profile.aliases.some(
        (alias) =>
          alias.alias_name === lookup.value.alias_name && alias.alias_label === lookup.value.alias_label,
      );
    case 'email':
      // Fast path, because most users with a shared address have the same spelling.
      if (profile.email === lookup.value) return true;
      return profile.email !== null && comparableEmail(profile.email) === comparableEmail(lookup.value);
    case 'phone':
      if (profile.phone === lookup.value) return true;
      return profile.phone !== null && comparablePhone(profile.phone) === comparablePhone(lookup.value);
    case 'push_token':
      return profile.pushTokens.some(
        ({ app_id, token }) => app_id === lookup.value.app_id && token === lookup.value.token,
      );
    case 'device_id':
      return profile.pushTokens.some(({ device_id }) => device_id === lookup.value);
    case 'braze_id':
      return String(profile.userId) === lookup.value;
  }
};

export interface DistinctLookup {
  workspaceId: string;
  identifier: string;
  lookup: Lookup;
}

/** Distinct lookups by workspace and identifier. */
export type DistinctLookups = Map<string, DistinctLookup>;

export const toLookupId = (workspaceId: string, identifier: string) => `${workspaceId} ${identifier}`;

/** Returns the lookups of mutations, except lookups for which `isCached` returns `true`. */
export const collectLookups = (
  mutations: Iterable<{ workspaceId: string; lookups: readonly Lookup[] }>,
  isCached: (workspaceId: string, lookup: Lookup) => boolean = () => false,
): DistinctLookups => {
  const distinctLookups: DistinctLookups = new Map();
  for (const { workspaceId, lookups } of mutations) {
    for (const lookup of lookups) {
      if (isCached(workspaceId, lookup)) continue;
      const identifier = toIdentifier(lookup);
      const name = toLookupId(workspaceId, identifier);
      if (!distinctLookups.has(name)) distinctLookups.set(name, { workspaceId, identifier, lookup });
    }
  }
  return distinctLookups;
};

/** Epoch of user IDs. IDs count milliseconds from this epoch, so they are safe integers until the year 2163. */
const EPOCH_MS = Date.UTC(2024, 0, 1);
/** Number of IDs per millisecond, 32 for each of 64 offsets. */
const IDS_PER_MS = 2_048;
const OFFSETS = 64;
/** Maximum ID that a clock can produce, so that a clock that is wrong by centuries leaves room for later IDs. */
const MAX_OF_CLOCKS = Number.MAX_SAFE_INTEGER - 2 ** 40;

/** Returns the user ID in a `braze_id`; `null` if invalid. */
export const parseUserId = (brazeId: string): number | null => {
  const id = /^[1-9]\d{0,15}$/.test(brazeId) ? Number(brazeId) : Number.NaN;
  return Number.isSafeInteger(id) ? id : null;
};

/**
 * Creates a generator of IDs that grow with time, so that rows are appended. Each replica has a random offset. Two replicas with
 * the same offset may create the same ID, which the database rejects. Call `changeOffset` in that case.
 */
export const createUserIds = (after = 0) => {
  let last = after;
  let offset = randomInt(OFFSETS);
  return {
    next(nowMs: number): number {
      const clock = Math.min((nowMs - EPOCH_MS) * IDS_PER_MS, MAX_OF_CLOCKS);
      const base = Math.max(last + 1, clock);
      // Selects the next number with the offset.
      last = base + ((((offset - base) % OFFSETS) + OFFSETS) % OFFSETS);
      return last;
    },
    changeOffset() {
      offset = randomInt(OFFSETS);
    },
  };
};

export type UserIds = ReturnType<typeof createUserIds>;
