import { importJWK, importPKCS8, SignJWT } from 'jose';
import { MAX_USER_TOKEN_SECONDS, USER_TOKEN_ALGORITHMS, type UserTokenAlgorithm } from '../protocol/index.ts';

/** Private key as a JWK (RFC 7517). */
export interface PrivateJwk {
  kty?: string;
  kid?: string;
  d?: string;
  [member: string]: unknown;
}

/** Options of `signUserToken`. */
export interface SignUserTokenOptions {
  /** Ed25519, P-256 or RSA private key, as PKCS#8 PEM or JWK. */
  privateKey: string | PrivateJwk;
  /** `kid` header. Default: the `kid` of the JWK, if any. */
  keyId?: string | undefined;
  /** The `userId` passed to `createPlacard`. */
  userId: string;
  appId: string;
  /** Restricts the token to one workspace. Default: any workspace with this app and key. */
  workspaceId?: string | undefined;
  /** Lifetime of the token in seconds, 1 second to 30 days. Default 3,600 (1 hour). */
  expiresInSeconds?: number | undefined;
  /** Unix milliseconds. */
  now?: (() => number) | undefined;
}

const HOUR_SECONDS = 60 * 60;
const EXPECTED_KEY = 'privateKey: expected an Ed25519, P-256 or RSA key, as JWK or as PEM beginning with';
const PEM_HEADER = '-----BEGIN PRIVATE KEY-----';

const KEY_TYPES: Record<string, UserTokenAlgorithm> = { OKP: 'EdDSA', EC: 'ES256', RSA: 'RS256' };

/** Imports a PEM key. Tries each algorithm, because the import requires the algorithm. */
const importPem = async (pem: string) => {
  for (const algorithm of USER_TOKEN_ALGORITHMS) {
    try {
      return { algorithm, key: await importPKCS8(pem, algorithm) };
    } catch {
      // Not a key of this algorithm.
    }
  }
  throw new TypeError(`${EXPECTED_KEY} ${PEM_HEADER}`);
};

const importKey = async (privateKey: string | PrivateJwk) => {
  if (typeof privateKey === 'string') return importPem(privateKey);
  const algorithm = KEY_TYPES[privateKey.kty ?? ''];
  if (!algorithm || typeof privateKey.d !== 'string') throw new TypeError(`${EXPECTED_KEY} ${PEM_HEADER}`);
  return { algorithm, key: await importJWK(privateKey, algorithm) };
};

/** Returns a signed JWT that authenticates a user of a page. Throws `TypeError` if an option is invalid. */
export const signUserToken = async (options: SignUserTokenOptions): Promise<string> => {
  const { privateKey, userId, appId, workspaceId, expiresInSeconds = HOUR_SECONDS, now = Date.now } = options;
  if (typeof userId !== 'string' || userId === '') throw new TypeError('userId: expected a string');
  if (typeof appId !== 'string' || appId === '') throw new TypeError('appId: expected a string');
  if (!(expiresInSeconds >= 1 && expiresInSeconds <= MAX_USER_TOKEN_SECONDS)) {
    throw new TypeError(`expiresInSeconds: expected a number from 1 to ${MAX_USER_TOKEN_SECONDS}`);
  }
  const { algorithm, key } = await importKey(privateKey);
  const keyId = options.keyId ?? (typeof privateKey === 'string' ? undefined : privateKey.kid);
  const issuedAt = Math.floor(now() / 1000);
  return new SignJWT(workspaceId === undefined ? {} : { workspace_id: workspaceId })
    .setProtectedHeader({ alg: algorithm, ...(keyId !== undefined && { kid: keyId }) })
    .setSubject(userId)
    .setAudience(appId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + Math.floor(expiresInSeconds))
    .sign(key);
};
