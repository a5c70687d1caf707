import { hash } from 'node:crypto';
import { isPresent, isVisitorId, type UserTokenFault } from '../../protocol/index.ts';
import type { PublicKey } from './public-keys.ts';
import { type Proof, verifyToken } from './verify-token.ts';

/** Verified tokens that are remembered for each app: a few hundred bytes each. */
const MAX_REMEMBERED = 20_000;

export interface UserTokensOptions {
  workspaceId: string;
  appId: string;
  keys: readonly PublicKey[];
  /** Whether a request without a token is refused. */
  isRequired: boolean;
  /** Whether visitors without an account need none even so. */
  allowsVisitors: boolean;
  maxRemembered?: number;
  verify?: typeof verifyToken;
}

/** Judges the user tokens of one app. */
export interface UserTokens {
  /** `null` where the request may go on, else why not. `token` is what the body has, of any type. */
  judge(token: unknown, userId: string, nowMs: number): Promise<UserTokenFault | null>;
}

/**
 * A page sends its token with every request, and verifying a signature takes longer than a sync. So verified tokens are
 * remembered by their hash until they end. A reload of the workspace makes new ones of these: a key that was taken out
 * no longer counts.
 */
export const createUserTokens = ({
  workspaceId,
  appId,
  keys,
  isRequired,
  allowsVisitors,
  maxRemembered = MAX_REMEMBERED,
  verify = verifyToken,
}: UserTokensOptions): UserTokens => {
  const remembered = new Map<string, Proof>();

  const remember = (name: string, proof: Proof) => {
    const [oldest] = remembered.keys();
    if (oldest !== undefined && remembered.size >= maxRemembered) remembered.delete(oldest);
    remembered.set(name, proof);
  };

  const proofOf = async (token: string, nowMs: number): Promise<Proof | UserTokenFault> => {
    const name = hash('sha256', token, 'base64');
    const known = remembered.get(name);
    if (known) return nowMs < known.endsAtMs ? known : 'expired';
    const proof = await verify(token, { workspaceId, appId, keys, nowMs });
    if (typeof proof !== 'string') remember(name, proof);
    return proof;
  };

  return {
    async judge(token, userId, nowMs) {
      if (!isPresent(token)) return isRequired && !(allowsVisitors && isVisitorId(userId)) ? 'missing' : null;
      if (typeof token !== 'string') return 'malformed';
      const proof = await proofOf(token, nowMs);
      if (typeof proof === 'string') return proof;
      return proof.userId === userId ? null : 'wrong_user';
    },
  };
};
