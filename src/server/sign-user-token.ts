import { importJWK, importPKCS8, SignJWT } from 'jose';
import { MAX_USER_TOKEN_SECONDS, USER_TOKEN_ALGORITHMS, type UserTokenAlgorithm } from '../protocol/index.ts';

/** A private key as RFC 7517 writes it. */
export interface PrivateJwk {
  kty?: string;
  kid?: string;
  d?: string;
  [member: string]: unknown;
}

/** Whom a token names, for which app, how long, and with which key it is signed. */
export interface SignUserTokenOptions {
  /** An Ed25519, P-256 or RSA key: PKCS#8 as PEM, or a JWK. Keep it on your server. */
  privateKey: string | PrivateJwk;
  /** `kid` of the token: which of the app's public keys verifies it. Default the JWK's own, else none. */
  keyId?: string;
  /** The user, by the ID that the page gives to `createPlacard`. */
  userId: string;
  appId: string;
  /** The only workspace that takes the token. Default any that has this app and this key. */
  workspaceId?: string;
  /** From 1 second to 30 days. Default an hour: the page asks for a new token in time. */
  expiresInSeconds?: number;
  /** Unix milliseconds. */
  now?: () => number;
}

const HOUR_SECONDS = 60 * 60;
const EXPECTED_KEY = 'privateKey: expected an Ed25519, P-256 or RSA key, as JWK or as PEM that begins with';
const PEM_HEADER = '-----BEGIN PRIVATE KEY-----';

const KEY_TYPES: Record<string, UserTokenAlgorithm> = { OKP: 'EdDSA', EC: 'ES256', RSA: 'RS256' };

/** A runtime imports a PEM only for an algorithm that it is given: try each. */
const importPem = async (pem: string) => {
  for (const algorithm of USER_TOKEN_ALGORITHMS) {
    try {
      return { algorithm, key: await importPKCS8(pem, algorithm) };
    } catch {
      // A key of another kind. The error below covers the last one, and quotes nothing of the key.
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

/** Signs a token with which a page proves who its user is. Throws a `TypeError` that names the option at fault. */
export const signUserToken = async (options: SignUserTokenOptions): Promise<string> => {
  const { privateKey, userId, appId, workspaceId, expiresInSeconds = HOUR_SECONDS, now = Date.now } = options;
  if (typeof userId !== 'string' || userId === '') throw new TypeError('userId: expected a text');
  if (typeof appId !== 'string' || appId === '') throw new TypeError('appId: expected a text');
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
