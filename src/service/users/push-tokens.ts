import type { PushToken } from '../profiles/profile.ts';

/** What a token takes for itself: a device of an app has one token, and an app has a token once. */
const claimsOf = ({ app_id, token, device_id }: PushToken): [string, string] => [
  `d${app_id}\u0000${device_id}`,
  `t${app_id}\u0000${token}`,
];

const unclaimed = (tokens: readonly PushToken[], claimed: ReadonlySet<string>): PushToken[] =>
  tokens.filter((token) => !claimsOf(token).some((claim) => claimed.has(claim)));

/** The tokens with those that are added one after the other, each of which ousts what had its device or its text. */
export const withTokens = (stored: readonly PushToken[], added: readonly PushToken[]): PushToken[] => {
  const claimed = new Set<string>();
  // From the last: whatever comes later ousts, though it may be ousted itself.
  const latest = added
    .toReversed()
    .filter((token) => {
      const claims = claimsOf(token);
      const isOusted = claims.some((claim) => claimed.has(claim));
      for (const claim of claims) claimed.add(claim);
      return !isOusted;
    })
    .reverse();
  return [...unclaimed(stored, claimed), ...latest];
};

/** The tokens, and of the others those that take from none of them its device or its text. */
export const joinTokens = (kept: readonly PushToken[], others: readonly PushToken[]): PushToken[] => [
  ...kept,
  ...unclaimed(others, new Set(kept.flatMap(claimsOf))),
];
