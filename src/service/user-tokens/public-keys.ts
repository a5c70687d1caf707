import { createPublicKey, type KeyObject } from 'node:crypto';
import { isRecord, type UserTokenAlgorithm } from '../../protocol/index.ts';
import { createIssue, type LocatedIssue, type ReportIssue } from '../issues.ts';
import type { AppFile } from '../workspace/file-schema.ts';
import { createUserTokens, type PublicKey, type UserTokens } from './user-tokens.ts';

/** Thrown for an unusable key. The message never quotes the key. */
class KeyProblem extends Error {
  override readonly name = 'KeyProblem';
}

const MIN_RSA_BITS = 2_048;
const EXPECTED = 'expected a public key as PEM, JWK or JWKS';
const EXPECTED_KIND = `expected an Ed25519 key, a P-256 key, or an RSA key of ${MIN_RSA_BITS} bits or more`;
const PRIVATE = 'expected a public key, got a private one: make a new pair, this one is no longer secret';

const getAlgorithm = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): UserTokenAlgorithm => {
  if (asymmetricKeyType === 'ed25519') return 'EdDSA';
  if (asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1') return 'ES256';
  if (asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_BITS)
    return 'RS256';
  throw new KeyProblem(EXPECTED_KIND);
};

const parsePublicKey = (input: Parameters<typeof createPublicKey>[0]): KeyObject => {
  try {
    return createPublicKey(input);
  } catch {
    // Replaces the platform's error messages, which are codes of its crypto library.
    throw new KeyProblem(`${EXPECTED}, got one that cannot be read`);
  }
};

const readPem = (pem: string): PublicKey => {
  if (pem.includes('PRIVATE KEY')) throw new KeyProblem(PRIVATE);
  const key = parsePublicKey(pem);
  return { algorithm: getAlgorithm(key), keyId: null, key };
};

/** Splits a PEM file, which may contain several keys during a rotation. */
const splitPems = (text: string): string[] => {
  const found = text.split(/(?=-----BEGIN )/).filter((each) => each.startsWith('-----BEGIN '));
  return found.length > 0 ? found : [text];
};

const readJwk = (jwk: Record<string, unknown>): PublicKey => {
  const { kty, kid, alg, use } = jwk;
  if (kty === 'oct') throw new KeyProblem('expected a public key, got a shared secret');
  if (Object.hasOwn(jwk, 'd')) throw new KeyProblem(PRIVATE);
  const key = parsePublicKey({ key: jwk, format: 'jwk' });
  const algorithm = getAlgorithm(key);
  // RFC 9864 names EdDSA with this curve `Ed25519`.
  const isFor = alg === undefined || alg === algorithm || (algorithm === 'EdDSA' && alg === 'Ed25519');
  if (!isFor || (use !== undefined && use !== 'sig')) {
    throw new KeyProblem(`expected a key for signatures with ${algorithm}, got one for another use`);
  }
  return { algorithm, keyId: typeof kid === 'string' ? kid : null, key };
};

/** Returns the keys of a JWKS that can verify user tokens. Skips other keys, which identity providers list for other uses. */
const readJwks = (keys: unknown[]): PublicKey[] => {
  const problems: KeyProblem[] = [];
  const found = keys.flatMap((jwk) => {
    try {
      return readPublicKeys(jwk);
    } catch (problem) {
      if (!(problem instanceof KeyProblem)) throw problem;
      if (problem.message === PRIVATE) throw problem;
      problems.push(problem);
      return [];
    }
  });
  if (found.length === 0) throw problems[0] ?? new KeyProblem(`${EXPECTED}, got an empty set`);
  return found;
};

/** Reads one or more PEM keys, a JWK or a JWKS. Throws a `KeyProblem`. */
export const readPublicKeys = (value: unknown): PublicKey[] => {
  if (typeof value === 'string') return splitPems(value).map(readPem);
  if (!isRecord(value)) throw new KeyProblem(EXPECTED);
  return Array.isArray(value['keys']) ? readJwks(value['keys']) : [readJwk(value)];
};

/** Reads the content of a key file. Throws a `KeyProblem`. */
export const readKeyFile = (text: string): PublicKey[] => {
  if (!text.trimStart().startsWith('{')) return readPublicKeys(text);
  try {
    return readPublicKeys(JSON.parse(text));
  } catch (problem) {
    throw problem instanceof SyntaxError
      ? new KeyProblem(`${EXPECTED}, got JSON that cannot be parsed`)
      : problem;
  }
};

/** Returns the content of a file that a workspace file names; `null` if it cannot be read. */
export type ReadKeyFile = (name: string) => string | null;

const readAppKeys = (
  app: AppFile,
  index: number,
  readFile: ReadKeyFile,
  report: ReportIssue,
): PublicKey[] => {
  const keys: PublicKey[] = [];
  const add = (path: PropertyKey[], read: () => PublicKey[]) => {
    try {
      keys.push(...read());
    } catch (error) {
      if (!(error instanceof KeyProblem)) throw error;
      report([index, ...path], createIssue('invalid_public_key', { reason: error.message }));
    }
  };
  for (const [position, key] of (app.user_token_keys ?? []).entries()) {
    add(['user_token_keys', position], () => readPublicKeys(key));
  }
  const { user_token_keys_file: file } = app;
  if (file === undefined) return keys;
  const text = readFile(file);
  if (text === null) {
    report([index, 'user_token_keys_file'], createIssue('unreadable_key_file', {}));
  } else add(['user_token_keys_file'], () => readKeyFile(text));
  return keys;
};

/** Returns the user-token settings by app ID, for apps that accept or require tokens. Calls `report` for each unusable key. */
export const toUserTokens = (
  workspaceId: string,
  apps: readonly AppFile[],
  readFile: ReadKeyFile,
  report: ReportIssue,
): ReadonlyMap<string, UserTokens> => {
  const found = new Map<string, UserTokens>();
  for (const [index, app] of apps.entries()) {
    const keys = readAppKeys(app, index, readFile, report);
    const { app_id: appId, user_tokens: mode = 'off', visitors = false } = app;
    if (mode === 'off') continue;
    if (!app.user_token_keys?.length && app.user_token_keys_file === undefined) {
      report([index, 'user_tokens'], createIssue('missing_public_key', {}));
    }
    const isRequired = mode === 'required';
    found.set(appId, createUserTokens({ workspaceId, appId, keys, isRequired, allowsVisitors: visitors }));
  }
  return found;
};

/**
 * Returns issues of apps without tokens. Client keys are valid for all apps of a workspace, so an app without tokens bypasses the
 * protection of the other apps.
 */
export const findUnprotectedApps = (apps: readonly AppFile[]): LocatedIssue[] => {
  const strict = apps.find(({ user_tokens }) => user_tokens === 'required');
  if (!strict) return [];
  return apps.flatMap(({ app_id, user_tokens }, index) =>
    user_tokens === 'required'
      ? []
      : [
          {
            path: ['apps', index, 'user_tokens'],
            ...createIssue('unprotected_app', { app: app_id, strict: strict.app_id }),
          },
        ],
  );
};
