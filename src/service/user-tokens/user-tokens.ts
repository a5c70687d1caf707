import { hash, type KeyObject } from 'node:crypto';
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose';
import {
  ERROR_MESSAGES,
  isPresent,
  isVisitorId,
  MAX_USER_TOKEN_CHARACTERS,
  MAX_USER_TOKEN_SECONDS,
  USER_TOKEN_ALGORITHMS,
  USER_TOKEN_HEADER,
  type UserTokenAlgorithm,
  type UserTokenFault,
} from '../../protocol/index.ts';
import { HttpError } from '../http/http-request.ts';

/** Public key for user tokens, bound to one algorithm. */
export interface PublicKey {
  algorithm: UserTokenAlgorithm;
  /** `kid` of the key; `null` if none. */
  keyId: string | null;
  key: KeyObject;
}

/** Returns the error of a request with an invalid or missing user token. */
export const userTokenError = (appId: string, fault: UserTokenFault): HttpError =>
  new HttpError(401, ERROR_MESSAGES.invalidUserToken, {
    headers: { [USER_TOKEN_HEADER]: fault },
    reason: `invalid user token of app ${appId}: ${fault}`,
  });

/** Strict base64url with dots. Decoders skip spaces, so a token would otherwise have many spellings. */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]*$/;
/** Clock skew tolerance. */
const TOLERANCE_SECONDS = 60;

/** User of a valid token, and its expiry. */
export interface Proof {
  userId: string;
  /** Unix milliseconds, including the clock tolerance. */
  endsAtMs: number;
}

const toFault = (error: unknown): UserTokenFault => {
  // Other errors are internal, and do not mean that the token is invalid.
  if (!(error instanceof errors.JOSEError)) throw error;
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'bad_signature';
  if (error instanceof errors.JWTExpired) return 'expired';
  if (!(error instanceof errors.JWTClaimValidationFailed)) return 'malformed';
  if (error.reason !== 'check_failed') return 'bad_claim';
  return error.claim === 'aud' ? 'wrong_app' : 'not_yet_valid';
};

const parseHeader = (token: string) => {
  if (token.length > MAX_USER_TOKEN_CHARACTERS || !COMPACT.test(token)) return null;
  try {
    return decodeProtectedHeader(token);
  } catch {
    // The token is not a JWT.
    return null;
  }
};

const toProof = (
  { sub, exp, iat, workspace_id: tokenWorkspaceId = null }: JWTPayload,
  workspaceId: string,
  nowMs: number,
): Proof | UserTokenFault => {
  // A test workspace often shares the app ID and keys of production.
  if (tokenWorkspaceId !== null && tokenWorkspaceId !== workspaceId) return 'wrong_app';
  if (typeof sub !== 'string' || exp === undefined) return 'bad_claim';
  const now = nowMs / 1000;
  if (exp > now + MAX_USER_TOKEN_SECONDS + TOLERANCE_SECONDS) return 'expires_too_late';
  if (iat !== undefined && iat > now + TOLERANCE_SECONDS) return 'not_yet_valid';
  return { userId: sub, endsAtMs: (exp + TOLERANCE_SECONDS) * 1000 };
};

/** Verifies a token with the keys of an app. A key verifies only its own algorithm, regardless of the token's `alg`. */
export const verifyToken = async (
  token: string,
  {
    workspaceId,
    appId,
    keys,
    nowMs,
  }: { workspaceId: string; appId: string; keys: readonly PublicKey[]; nowMs: number },
): Promise<Proof | UserTokenFault> => {
  const header = parseHeader(token);
  if (!header) return 'malformed';
  const { alg, kid } = header;
  if (!USER_TOKEN_ALGORITHMS.some((algorithm) => algorithm === alg)) return 'wrong_algorithm';
  const candidates = keys.filter(
    ({ algorithm, keyId }) => algorithm === alg && (kid === undefined || keyId === null || keyId === kid),
  );
  let fault: UserTokenFault = 'unknown_key';
  for (const { key, algorithm } of candidates) {
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [algorithm],
        audience: appId,
        requiredClaims: ['sub', 'exp'],
        clockTolerance: TOLERANCE_SECONDS,
        currentDate: new Date(nowMs),
      });
      return toProof(payload, workspaceId, nowMs);
    } catch (error) {
      fault = toFault(error);
      // Tries the next key, because two keys without a `kid` may exist during a key rotation.
      if (fault !== 'bad_signature') return fault;
    }
  }
  return fault;
};

/** Maximum number of cached tokens per app. A token takes a few hundred bytes. */
const MAX_REMEMBERED = 20_000;

export interface UserTokensOptions {
  workspaceId: string;
  appId: string;
  keys: readonly PublicKey[];
  /** Whether requests without a token are rejected. */
  isRequired: boolean;
  /** Whether visitors without an account are exempt. */
  allowsVisitors: boolean;
  maxRemembered?: number;
  verify?: typeof verifyToken;
}

/** Verifies the user tokens of one app. */
export interface UserTokens {
  /** Returns the fault of a request; `null` if the request is allowed. `token` comes from the body and may have any type. */
  verify(token: unknown, userId: string, nowMs: number): Promise<UserTokenFault | null>;
}

/**
 * Creates a verifier for an app. Caches verified tokens by hash until they expire, because pages send a token with every request,
 * and verifying it takes longer than a sync. A reload creates new instances, so removed keys are no longer accepted.
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

  const getProof = async (token: string, nowMs: number): Promise<Proof | UserTokenFault> => {
    const name = hash('sha256', token, 'base64');
    const cached = remembered.get(name);
    if (cached) return nowMs < cached.endsAtMs ? cached : 'expired';
    const proof = await verify(token, { workspaceId, appId, keys, nowMs });
    if (typeof proof !== 'string') remember(name, proof);
    return proof;
  };

  return {
    async verify(token, userId, nowMs) {
      if (!isPresent(token)) return isRequired && !(allowsVisitors && isVisitorId(userId)) ? 'missing' : null;
      if (typeof token !== 'string') return 'malformed';
      const proof = await getProof(token, nowMs);
      if (typeof proof === 'string') return proof;
      return proof.userId === userId ? null : 'wrong_user';
    },
  };
};
