import type { PushToken } from './profile.ts';

/** What a token takes for itself: a device of an app has one token, and an app has a token once. */
const claimsOf = ({ app_id, token, device_id }: PushToken): [string, string] => [
  `d${app_id}\u0000${device_id}`,
  `t${app_id}\u0000${token}`,
];

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
  return [...stored.filter((token) => !claimsOf(token).some((claim) => claimed.has(claim))), ...latest];
};

/** The tokens, and of the others those that take from none of them its device or its text. */
export const joinTokens = (kept: readonly PushToken[], others: readonly PushToken[]): PushToken[] => {
  const claimed = new Set(kept.flatMap(claimsOf));
  return [...kept, ...others.filter((token) => !claimsOf(token).some((claim) => claimed.has(claim)))];
};
