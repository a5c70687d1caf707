import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose';
import {
  MAX_USER_TOKEN_CHARACTERS,
  MAX_USER_TOKEN_SECONDS,
  USER_TOKEN_ALGORITHMS,
  type UserTokenFault,
} from '../../protocol/index.ts';
import type { PublicKey } from './public-keys.ts';

/** Base64url with dots between: decoders pass over spaces, and one token would have many spellings. */
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]*$/;
/** What the clocks of two servers may differ by. */
const TOLERANCE_SECONDS = 60;

/** The user that a token names, and when it ends. */
export interface Proof {
  userId: string;
  /** Unix milliseconds, the tolerance for clocks included. */
  endsAtMs: number;
}

const faultOf = (error: unknown): UserTokenFault => {
  // A fault of ours, not of the token.
  if (!(error instanceof errors.JOSEError)) throw error;
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'bad_signature';
  if (error instanceof errors.JWTExpired) return 'expired';
  if (!(error instanceof errors.JWTClaimValidationFailed)) return 'malformed';
  if (error.reason !== 'check_failed') return 'bad_claim';
  return error.claim === 'aud' ? 'wrong_app' : 'not_yet_valid';
};

const headerOf = (token: string) => {
  if (token.length > MAX_USER_TOKEN_CHARACTERS || !COMPACT.test(token)) return null;
  try {
    return decodeProtectedHeader(token);
  } catch {
    // Not a JWT.
    return null;
  }
};

const proofOf = (
  { sub, exp, iat, workspace_id: named = null }: JWTPayload,
  workspaceId: string,
  nowMs: number,
): Proof | UserTokenFault => {
  // A shop's test workspace often has the app ID and the keys of the real one.
  if (named !== null && named !== workspaceId) return 'wrong_app';
  if (typeof sub !== 'string' || exp === undefined) return 'bad_claim';
  const now = nowMs / 1000;
  if (exp > now + MAX_USER_TOKEN_SECONDS + TOLERANCE_SECONDS) return 'expires_too_late';
  if (iat !== undefined && iat > now + TOLERANCE_SECONDS) return 'not_yet_valid';
  return { userId: sub, endsAtMs: (exp + TOLERANCE_SECONDS) * 1000 };
};

/** Verifies a token with the keys of an app. Each key verifies its own algorithm alone, whatever `alg` the token names. */
export const verifyToken = async (
  token: string,
  {
    workspaceId,
    appId,
    keys,
    nowMs,
  }: { workspaceId: string; appId: string; keys: readonly PublicKey[]; nowMs: number },
): Promise<Proof | UserTokenFault> => {
  const header = headerOf(token);
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
      return proofOf(payload, workspaceId, nowMs);
    } catch (error) {
      fault = faultOf(error);
      // While keys are rotated there are two without a `kid`.
      if (fault !== 'bad_signature') return fault;
    }
  }
  return fault;
};
