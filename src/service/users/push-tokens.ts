import { randomUUID } from 'node:crypto';
import {
  fitsBytes,
  isRecord,
  isStorableText,
  MAX_DEVICE_ID_BYTES,
  MAX_PUSH_TOKEN_BYTES,
  MAX_PUSH_TOKENS,
  MIN_DEVICE_ID_BYTES,
  TRACK_ERROR,
  utf8Bytes,
} from '../../protocol/index.ts';
import type { Profile, PushToken } from '../profiles/profile.ts';
import type { ErrorCollector } from './error-collector.ts';

const isDeviceId = (value: unknown): value is string => {
  if (typeof value !== 'string' || !isStorableText(value)) return false;
  const bytes = utf8Bytes(value);
  return bytes >= MIN_DEVICE_ID_BYTES && bytes <= MAX_DEVICE_ID_BYTES;
};

const isTokenText = (value: unknown): value is string =>
  typeof value === 'string' &&
  value !== '' &&
  isStorableText(value) &&
  fitsBytes(value, MAX_PUSH_TOKEN_BYTES);

/**
 * Checks push tokens (contract 3.5). Reports invalid tokens, and returns the others. Accepts tokens of web apps, although the
 * documented API cannot import them. This service does not send to push tokens.
 */
export const checkPushTokens = (
  value: unknown,
  appIds: ReadonlySet<string>,
  errors: ErrorCollector,
): PushToken[] => {
  if (!Array.isArray(value) || !value.every(isRecord)) {
    errors.add(TRACK_ERROR.badPushTokenValue);
    return [];
  }
  const tokens: PushToken[] = [];
  for (const { app_id, token, device_id } of value) {
    if (!isTokenText(token)) {
      errors.add(TRACK_ERROR.badPushTokenString);
    } else if (typeof app_id !== 'string' || !appIds.has(app_id)) {
      errors.add(TRACK_ERROR.badPushTokenAppId);
    } else if (device_id !== undefined && device_id !== null && !isDeviceId(device_id)) {
      errors.add(TRACK_ERROR.badDeviceId);
    } else tokens.push({ app_id, token, device_id: device_id ?? randomUUID() });
  }
  return tokens;
};

/** Returns the keys of a token that are unique in a profile. A device has one token per app, and an app has each token once. */
const getClaims = ({ app_id, token, device_id }: PushToken): [string, string] => [
  `d${app_id}\u0000${device_id}`,
  `t${app_id}\u0000${token}`,
];

const unclaimed = (tokens: readonly PushToken[], claimed: ReadonlySet<string>): PushToken[] =>
  tokens.filter((token) => !getClaims(token).some((claim) => claimed.has(claim)));

/** Adds tokens in order. Each replaces earlier tokens with the same device or the same text. */
export const withTokens = (stored: readonly PushToken[], added: readonly PushToken[]): PushToken[] => {
  const claimed = new Set<string>();
  // Iterates from last to first, because a token replaces earlier tokens even if a later token replaces it.
  const latest = added
    .toReversed()
    .filter((token) => {
      const claims = getClaims(token);
      const isRemoved = claims.some((claim) => claimed.has(claim));
      for (const claim of claims) claimed.add(claim);
      return !isRemoved;
    })
    .reverse();
  return [...unclaimed(stored, claimed), ...latest];
};

/** Adds tokens to a profile. Returns `false` and changes nothing if the tokens would exceed the limit. */
export const addTokens = (profile: Profile, added: readonly PushToken[]): boolean => {
  const { pushTokens } = profile;
  const tokens = withTokens(pushTokens, added);
  // A profile above the limit may still replace tokens.
  if (tokens.length > Math.max(MAX_PUSH_TOKENS, pushTokens.length)) return false;
  profile.pushTokens = tokens;
  return true;
};

/** Returns the kept tokens, and the other tokens that share neither device nor text with a kept token. */
export const joinTokens = (kept: readonly PushToken[], others: readonly PushToken[]): PushToken[] => [
  ...kept,
  ...unclaimed(others, new Set(kept.flatMap(getClaims))),
];
