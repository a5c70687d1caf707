import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

/** A pair of keys for user tokens, in each form that a workspace file or a backend may have it. */
export interface TokenKeys {
  algorithm: string;
  privateKey: KeyObject;
  privatePem: string;
  publicPem: string;
  publicJwk: Record<string, unknown>;
}

const getPair = (algorithm: string, publicKey: KeyObject, privateKey: KeyObject): TokenKeys => ({
  algorithm,
  privateKey,
  privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  publicJwk: publicKey.export({ format: 'jwk' }) as Record<string, unknown>,
});

export const ed25519Keys = (): TokenKeys => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return getPair('EdDSA', publicKey, privateKey);
};
export const p256Keys = (): TokenKeys => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return getPair('ES256', publicKey, privateKey);
};
export const rsaKeys = (modulusLength = 2_048): TokenKeys => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength });
  return getPair('RS256', publicKey, privateKey);
};

export const part = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

export const getSignature = ({ algorithm, privateKey }: TokenKeys, text: string): string =>
  sign(algorithm === 'EdDSA' ? null : 'sha256', Buffer.from(text), {
    key: privateKey,
    dsaEncoding: 'ieee-p1363',
  }).toString('base64url');

export const getHmac = (secret: string, text: string): string =>
  createHmac('sha256', secret).update(text).digest('base64url');

/** A token made by hand, whatever header and claims are given: nothing of it is checked. */
export const aToken = (
  keys: TokenKeys,
  claims: unknown,
  header: unknown = { alg: keys.algorithm, typ: 'JWT' },
): string => {
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${getSignature(keys, text)}`;
};
