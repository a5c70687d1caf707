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
 * Contract 3.5: every bad token is reported and left out, the others count. Tokens of web apps are taken like the
 * others, though the documentation says that they cannot be imported: nothing here sends to them, so that does no harm.
 */
export const checkPushTokens = (
  value: unknown,
  appIds: ReadonlySet<string>,
  problems: ErrorCollector,
): PushToken[] => {
  if (!Array.isArray(value) || !value.every(isRecord)) {
    problems.add(TRACK_ERROR.badPushTokenValue);
    return [];
  }
  const tokens: PushToken[] = [];
  for (const { app_id, token, device_id } of value) {
    if (!isTokenText(token)) {
      problems.add(TRACK_ERROR.badPushTokenString);
    } else if (typeof app_id !== 'string' || !appIds.has(app_id)) {
      problems.add(TRACK_ERROR.badPushTokenAppId);
    } else if (device_id !== undefined && device_id !== null && !isDeviceId(device_id)) {
      problems.add(TRACK_ERROR.badDeviceId);
    } else tokens.push({ app_id, token, device_id: device_id ?? randomUUID() });
  }
  return tokens;
};

/** Two tokens that share one of these keys cannot both stay: a device has one token of an app, and an app has each token once. */
const claimsOf = ({ app_id, token, device_id }: PushToken): [string, string] => [
  `d${app_id}\u0000${device_id}`,
  `t${app_id}\u0000${token}`,
];

const unclaimed = (tokens: readonly PushToken[], claimed: ReadonlySet<string>): PushToken[] =>
  tokens.filter((token) => !claimsOf(token).some((claim) => claimed.has(claim)));

/** Adds tokens one after the other. Each removes the tokens before it that have the same device, or the same text. */
export const withTokens = (stored: readonly PushToken[], added: readonly PushToken[]): PushToken[] => {
  const claimed = new Set<string>();
  // From the last to the first: a token removes earlier ones even where a later one removes it in turn.
  const latest = added
    .toReversed()
    .filter((token) => {
      const claims = claimsOf(token);
      const isRemoved = claims.some((claim) => claimed.has(claim));
      for (const claim of claims) claimed.add(claim);
      return !isRemoved;
    })
    .reverse();
  return [...unclaimed(stored, claimed), ...latest];
};

/** Adds tokens to a profile. False where it would have more of them than it may: then it stays as it is. */
export const addTokens = (profile: Profile, added: readonly PushToken[]): boolean => {
  const { pushTokens } = profile;
  const tokens = withTokens(pushTokens, added);
  // A profile may have more of before, and replaces what it has.
  if (tokens.length > Math.max(MAX_PUSH_TOKENS, pushTokens.length)) return false;
  profile.pushTokens = tokens;
  return true;
};

/** The kept tokens, and those of the others that share no device and no text with them. */
export const joinTokens = (kept: readonly PushToken[], others: readonly PushToken[]): PushToken[] => [
  ...kept,
  ...unclaimed(others, new Set(kept.flatMap(claimsOf))),
];
