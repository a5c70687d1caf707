import { describe, expect, test } from 'vitest';
import { signUserToken } from '../../src/server/index.ts';
import { readPublicKeys } from '../../src/service/user-tokens/public-keys.ts';
import { createUserTokens } from '../../src/service/user-tokens/user-tokens.ts';
import { ed25519Keys, p256Keys, rsaKeys, type TokenKeys } from '../helpers/token-keys.ts';

const NOW = Date.parse('2026-03-01T09:00:00Z');
const now = () => NOW;
const kinds: [string, TokenKeys][] = [
  ['Ed25519', ed25519Keys()],
  ['P-256', p256Keys()],
  ['RSA', rsaKeys()],
];
const [[, keys]] = kinds as [[string, TokenKeys]];
const privateJwk = (pair: TokenKeys) => pair.privateKey.export({ format: 'jwk' }) as Record<string, unknown>;
const getParts = (token: string) =>
  token
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));

describe.each(kinds)('a token signed with %s', (_, pair) => {
  const tokens = createUserTokens({
    workspaceId: 'shop',
    appId: 'web-shop',
    keys: readPublicKeys({ ...pair.publicJwk, kid: 'k-1' }),
    isRequired: true,
    allowsVisitors: false,
  });
  const options = { userId: 'u-771', appId: 'web-shop', now };

  test.each([
    ['PEM', pair.privatePem],
    ['JWK', privateJwk(pair)],
  ])('is accepted by the service, from a %s', async (_, privateKey) => {
    const token = await signUserToken({ ...options, privateKey, keyId: 'k-1' });
    expect(await tokens.verify(token, 'u-771', NOW)).toBeNull();
    expect(await tokens.verify(token, 'u-772', NOW)).toBe('wrong_user');
    expect(await tokens.verify(token, 'u-771', NOW + 2 * 3_600_000)).toBe('expired');
  });
});

test('contains the user, the app, the creation and expiration times, and the key ID', async () => {
  const privateKey = { ...privateJwk(keys), kid: 'of-the-jwk' };
  const options = { privateKey, userId: 'u-771', appId: 'web-shop', now };
  expect(getParts(await signUserToken(options))).toEqual([
    { alg: 'EdDSA', kid: 'of-the-jwk' },
    { sub: 'u-771', aud: 'web-shop', iat: NOW / 1000, exp: NOW / 1000 + 3_600 },
  ]);
  const [head, { exp }] = getParts(
    await signUserToken({ ...options, keyId: 'said', expiresInSeconds: 30 * 24 * 3_600 }),
  );
  expect({ head, exp }).toEqual({
    head: { alg: 'EdDSA', kid: 'said' },
    exp: NOW / 1000 + 30 * 24 * 3_600,
  });
  expect(getParts(await signUserToken({ ...options, privateKey: keys.privatePem }))[0]).toEqual({
    alg: 'EdDSA',
  });
});

test.each([
  [{ userId: '' }, 'userId: expected a string'],
  [{ userId: 771 }, 'userId: expected a string'],
  [{ appId: undefined }, 'appId: expected a string'],
  [{ expiresInSeconds: 0 }, 'expiresInSeconds: expected a number from 1 to 2592000'],
  [{ expiresInSeconds: 31 * 24 * 3_600 }, 'expiresInSeconds: expected a number from 1 to 2592000'],
  [{ expiresInSeconds: Number.NaN }, 'expiresInSeconds: expected a number from 1 to 2592000'],
  [
    { privateKey: 'topsecret' },
    'privateKey: expected an Ed25519, P-256 or RSA key, as JWK or as PEM beginning with',
  ],
  [{ privateKey: keys.publicPem }, 'privateKey: expected an Ed25519'],
  [{ privateKey: keys.publicJwk }, 'privateKey: expected an Ed25519'],
  [{ privateKey: { kty: 'oct', k: 'topsecret', d: 'x' } }, 'privateKey: expected an Ed25519'],
])('reports an invalid option without quoting a key: %j', async (wrong, message) => {
  const given = { privateKey: keys.privatePem, userId: 'u-771', appId: 'web-shop', ...wrong };
  const error = await signUserToken(given as never).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(TypeError);
  expect((error as Error).message).toContain(message);
  expect((error as Error).message).not.toContain('topsecret');
});
