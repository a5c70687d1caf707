import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readKeyFile, readPublicKeys } from '../../../src/service/user-tokens/public-keys.ts';
import { ed25519Keys, p256Keys, rsaKeys } from '../../helpers/token-keys.ts';

const ed = ed25519Keys();
const ec = p256Keys();
const rsa = rsaKeys();
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey;

const facts = (value: unknown) => readPublicKeys(value).map(({ algorithm, keyId }) => ({ algorithm, keyId }));
const PRIVATE = 'expected a public key, got a private one: make a new pair, this one is no longer secret';

describe('readPublicKeys', () => {
  test.each([
    ['Ed25519', ed, 'EdDSA'],
    ['P-256', ec, 'ES256'],
    ['RSA', rsa, 'RS256'],
  ])('reads a key as PEM and as JWK: %s', (_, { publicPem, publicJwk }, algorithm) => {
    expect(facts(publicPem)).toEqual([{ algorithm, keyId: null }]);
    expect(facts({ ...publicJwk, kid: 'k-1', alg: algorithm, use: 'sig' })).toEqual([
      { algorithm, keyId: 'k-1' },
    ]);
    expect(facts({ ...publicJwk, key_ops: ['verify'] })).toEqual([{ algorithm, keyId: null }]);
  });

  test('accepts the algorithm name Ed25519', () => {
    expect(facts({ ...ed.publicJwk, alg: 'Ed25519' })).toEqual([{ algorithm: 'EdDSA', keyId: null }]);
  });

  test('reads a set, except keys for other uses', () => {
    const keys = [
      { ...rsa.publicJwk, kid: 'old' },
      { ...ec.publicJwk, kid: 'new' },
      { ...rsa.publicJwk, kid: 'encryption', use: 'enc' },
      { ...rsa.publicJwk, kid: 'other', alg: 'PS256' },
      { kty: 'unheard-of', kid: 'future' },
    ];
    expect(facts({ keys })).toEqual([
      { algorithm: 'RS256', keyId: 'old' },
      { algorithm: 'ES256', keyId: 'new' },
    ]);
  });

  test('reads a file as JWKS, JWK or PEM', () => {
    const keyIds = (text: string) => readKeyFile(text).map(({ keyId }) => keyId);
    expect(keyIds(JSON.stringify({ keys: [{ ...ed.publicJwk, kid: 'a' }] }, null, 2))).toEqual(['a']);
    expect(keyIds(` ${JSON.stringify({ ...ed.publicJwk, kid: 'b' })}`)).toEqual(['b']);
    expect(keyIds(ed.publicPem)).toEqual([null]);
    // During key rotation, both keys are in one file, perhaps with a comment.
    const both = readKeyFile(`# old\n${ed.publicPem}\n# new\n${rsa.publicPem}`);
    expect(both.map(({ algorithm }) => algorithm)).toEqual(['EdDSA', 'RS256']);
    expect(() => readKeyFile(`${ed.publicPem}\n${rsa.privatePem}`)).toThrow(PRIVATE);
    expect(() => readKeyFile('{ "keys": [')).toThrow(
      'expected a public key as PEM, JWK or JWKS, got JSON that cannot be parsed',
    );
  });

  test.each([
    ['a private PEM', ed.privatePem, PRIVATE],
    ['a private JWK', { ...ec.publicJwk, d: 'AA' }, PRIVATE],
    ['a set with a private JWK', { keys: [ec.publicJwk, { ...ec.publicJwk, d: 'AA' }] }, PRIVATE],
    ['a shared secret', { kty: 'oct', k: 'c2VjcmV0' }, 'expected a public key, got a shared secret'],
    [
      'a text that is not a key',
      'secret',
      'expected a public key as PEM, JWK or JWKS, got one that cannot be read',
    ],
    ['a JWK without parameters', { kty: 'RSA' }, 'got one that cannot be read'],
    ['an empty set', { keys: [] }, 'expected a public key as PEM, JWK or JWKS, got an empty set'],
    ['a list', [ed.publicPem], 'expected a public key as PEM, JWK or JWKS'],
    ['a short RSA key', rsaKeys(1_024).publicPem, 'or an RSA key of 2048 bits or more'],
    [
      'another curve',
      p384.export({ type: 'spki', format: 'pem' }).toString(),
      'expected an Ed25519 key, a P-256 key',
    ],
    ['another curve as JWK', p384.export({ format: 'jwk' }), 'expected an Ed25519 key, a P-256 key'],
    ['a key for encryption', { ...rsa.publicJwk, use: 'enc' }, 'expected a key for signatures with RS256'],
    [
      'a key for another algorithm',
      { ...rsa.publicJwk, alg: 'PS256' },
      'expected a key for signatures with RS256',
    ],
  ])('rejects a key without quoting it: %s', (_, value, problem) => {
    expect(() => readPublicKeys(value)).toThrow(problem);
    try {
      readPublicKeys(value);
    } catch (error) {
      expect((error as Error).message).not.toMatch(/BEGIN|c2VjcmV0|secret"/);
    }
  });
});
