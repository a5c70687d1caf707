import { expect, test } from 'vitest';
import { readPublicKeys } from '../../../src/service/user-tokens/public-keys.ts';
import { createUserTokens } from '../../../src/service/user-tokens/user-tokens.ts';
import fc from '../../helpers/property.ts';
import {
  aToken,
  ed25519Keys,
  getHmac,
  getSignature,
  p256Keys,
  part,
  rsaKeys,
  type TokenKeys,
} from '../../helpers/token-keys.ts';

const NOW = Date.parse('2026-03-01T09:00:00Z');
const SECONDS = NOW / 1000;
const DAY = 24 * 60 * 60;

const ed = ed25519Keys();
const ec = p256Keys();
const rsa = rsaKeys();
/** Keys of another issuer. */
const foreign = ed25519Keys();

const getTokens = (keys: unknown[]) =>
  createUserTokens({
    workspaceId: 'shop',
    appId: 'web-shop',
    keys: keys.flatMap(readPublicKeys),
    isRequired: true,
    allowsVisitors: true,
  });
/** App with all three kinds of keys; the elliptic-curve one has a `kid`. */
const tokens = getTokens([ed.publicPem, { ...ec.publicJwk, kid: 'ec-1' }, rsa.publicPem]);

const sound = { sub: 'u-771', aud: 'web-shop', exp: SECONDS + 3_600, iat: SECONDS };
const judge = (token: unknown, userId = 'u-771', nowMs = NOW) => tokens.verify(token, userId, nowMs);
const claims = (members: Record<string, unknown>, keys: TokenKeys = ed) =>
  aToken(keys, { ...sound, ...members });
const header = (members: Record<string, unknown>, keys: TokenKeys = ed) => aToken(keys, sound, members);
const signedText = (head: unknown, body: unknown, keys = ed) => {
  const text = `${part(head)}.${part(body)}`;
  return `${text}.${getSignature(keys, text)}`;
};
const valid = aToken(ed, sound);
const [head = '', body = '', signature = ''] = valid.split('.');

test.each([
  ['EdDSA', ed, {}],
  ['RS256', rsa, {}],
  ['ES256 with the kid of its key', ec, { kid: 'ec-1' }],
  ['ES256 without a kid', ec, {}],
  ['EdDSA with a kid for a key without one', ed, { kid: 'any' }],
])('accepts a valid token: %s', async (_, keys, more) => {
  expect(await judge(aToken(keys, sound, { alg: keys.algorithm, ...more }))).toBeNull();
});

test.each([
  ['for several apps, including this one', claims({ aud: ['other', 'web-shop'] })],
  ['30 days long', claims({ exp: SECONDS + 30 * DAY })],
  ['just expired, within clock skew', claims({ exp: SECONDS - 30 })],
  ['issued in the near future, within clock skew', claims({ iat: SECONDS + 30, nbf: SECONDS + 30 })],
  ['without iat', claims({ iat: undefined })],
  ['for this workspace only', claims({ workspace_id: 'shop' })],
  ['with claims of the host', claims({ email: 'kim@example.org', roles: ['admin'] })],
])('accepts a valid token: %s', async (_, token) => {
  expect(await judge(token)).toBeNull();
});

const hostile: [string, unknown, string][] = [
  ['no value', undefined, 'missing'],
  ['null', null, 'missing'],
  ['an empty text', '', 'missing'],
  ['a number', 7, 'malformed'],
  ['an object with the members of a token', { payload: body, protected: head, signature }, 'malformed'],
  ['a list of tokens', [valid], 'malformed'],
  ['a text that is not a token', 'let me in', 'malformed'],
  ['an API key', 'demo-client-key', 'malformed'],
  ['two parts', `${head}.${body}`, 'malformed'],
  ['four parts', `${valid}.${signature}`, 'malformed'],
  ['five parts, as if encrypted', `${part({ alg: 'dir', enc: 'A256GCM' })}..AAAA.AAAA.AAAA`, 'malformed'],
  ['a token for another workspace', claims({ workspace_id: 'test' }), 'wrong_app'],
  ['a workspace that is not a string', claims({ workspace_id: ['shop'] }), 'wrong_app'],
  ['a token with spaces around it', ` ${valid} `, 'malformed'],
  ['a token with a line break behind it', `${valid}\n`, 'malformed'],
  [
    'a token in base64 instead of base64url',
    `${valid.replaceAll('-', '+').replaceAll('_', '/')}+`,
    'malformed',
  ],
  ['a token after Bearer', `Bearer ${valid}`, 'malformed'],
  ['a token beyond the maximum length', claims({ filler: 'x'.repeat(4_096) }), 'malformed'],
  ['a header that is not JSON', `${part('{"alg":')}.${body}.${signature}`, 'malformed'],
  ['a header that is a list', signedText([], sound), 'malformed'],
  ['no alg', header({ typ: 'JWT' }), 'wrong_algorithm'],
  ['alg none, without a signature', `${part({ alg: 'none' })}.${body}.`, 'wrong_algorithm'],
  ['alg None, with a signature', header({ alg: 'None' }), 'wrong_algorithm'],
  ['alg as a list', header({ alg: ['EdDSA'] }), 'wrong_algorithm'],
  [
    'alg HS256, with the public RSA key as the secret',
    (() => {
      const text = `${part({ alg: 'HS256' })}.${body}`;
      return `${text}.${getHmac(rsa.publicPem, text)}`;
    })(),
    'wrong_algorithm',
  ],
  ['alg RS256 over a signature of the elliptic key', header({ alg: 'RS256' }, ec), 'bad_signature'],
  ['alg ES256 over a signature of the RSA key', header({ alg: 'ES256' }, rsa), 'bad_signature'],
  ['alg RS512, which is not supported', header({ alg: 'RS512' }, rsa), 'wrong_algorithm'],
  ['alg Ed25519 with the wrong case', header({ alg: 'eddsa' }), 'wrong_algorithm'],
  ['a kid of no key of this type', header({ alg: 'ES256', kid: 'ec-2' }, ec), 'unknown_key'],
  ['a kid that is a path', header({ alg: 'ES256', kid: '../../dev/null' }, ec), 'unknown_key'],
  ['a key in the header', header({ alg: 'EdDSA', jwk: foreign.publicJwk }, foreign), 'bad_signature'],
  [
    'the URL of a key in the header',
    header({ alg: 'EdDSA', jku: 'http://127.0.0.1/jwks.json', x5u: 'http://127.0.0.1/x' }, foreign),
    'bad_signature',
  ],
  ['a critical extension', header({ alg: 'EdDSA', crit: ['exp'], exp: 1 }), 'malformed'],
  ['an unencoded payload', header({ alg: 'EdDSA', crit: ['b64'], b64: false }), 'malformed'],
  ['the signature of another key', aToken(foreign, sound), 'bad_signature'],
  ['no signature', `${head}.${body}.`, 'bad_signature'],
  ['a signature of zeros', `${head}.${body}.${'A'.repeat(86)}`, 'bad_signature'],
  ['an elliptic signature of zeros', `${part({ alg: 'ES256' })}.${body}.${'A'.repeat(86)}`, 'bad_signature'],
  ['a truncated signature', valid.slice(0, -8), 'bad_signature'],
  [
    'another payload with the signature',
    `${head}.${part({ ...sound, sub: 'u-1' })}.${signature}`,
    'bad_signature',
  ],
  ['another header with the signature', `${part({ alg: 'EdDSA' })}.${body}.${signature}`, 'bad_signature'],
  ['a payload that is not JSON', signedText({ alg: 'EdDSA' }, 'hello'), 'malformed'],
  ['a payload that is a list', signedText({ alg: 'EdDSA' }, []), 'malformed'],
  ['a payload that is null', signedText({ alg: 'EdDSA' }, null), 'malformed'],
  ['no sub', claims({ sub: undefined }), 'bad_claim'],
  ['a sub that is a number', claims({ sub: 771 }), 'bad_claim'],
  ['a sub that is a list', claims({ sub: ['u-771'] }), 'bad_claim'],
  ['the sub of another user', claims({ sub: 'u-772' }), 'wrong_user'],
  ['the sub in another case', claims({ sub: 'U-771' }), 'wrong_user'],
  ['the sub with a space behind it', claims({ sub: 'u-771 ' }), 'wrong_user'],
  ['no aud', claims({ aud: undefined }), 'bad_claim'],
  ['the aud of another app', claims({ aud: 'other' }), 'wrong_app'],
  ['an aud that is an object', claims({ aud: { 'web-shop': true } }), 'wrong_app'],
  ['an aud with the app ID as prefix', claims({ aud: 'web-shop-2' }), 'wrong_app'],
  ['no exp', claims({ exp: undefined }), 'bad_claim'],
  ['an exp that is a string', claims({ exp: String(SECONDS + 3_600) }), 'bad_claim'],
  ['an exp that is a date', claims({ exp: '2026-04-01T00:00:00Z' }), 'bad_claim'],
  ['an exp in milliseconds', claims({ exp: NOW }), 'expires_too_late'],
  [
    'an infinite exp',
    signedText({ alg: 'EdDSA' }, `{"sub":"u-771","aud":"web-shop","exp":1e999}`),
    'expires_too_late',
  ],
  ['an exp in 31 days', claims({ exp: SECONDS + 31 * DAY }), 'expires_too_late'],
  ['an exp before the epoch', claims({ exp: -1 }), 'expired'],
  ['an expired token', claims({ exp: SECONDS - DAY, iat: SECONDS - 2 * DAY }), 'expired'],
  ['an nbf of tomorrow', claims({ nbf: SECONDS + DAY }), 'not_yet_valid'],
  ['an iat of tomorrow', claims({ iat: SECONDS + DAY }), 'not_yet_valid'],
  ['an nbf that is a string', claims({ nbf: 'now' }), 'bad_claim'],
];

test('covers at least thirty hostile tokens', () => expect(hostile.length).toBeGreaterThanOrEqual(30));

test.each(hostile)('rejects a token: %s', async (_, token, fault) => {
  expect(await judge(token)).toBe(fault);
  // The second time too: the result was not cached.
  expect(await judge(token)).toBe(fault);
});

test('accepts a token for one user only, also from the cache', async () => {
  const token = aToken(ed, { ...sound, jti: 'shared' });
  expect(await judge(token, 'u-771')).toBeNull();
  expect(await judge(token, 'u-772')).toBe('wrong_user');
  expect(await judge(token, 'u-771')).toBeNull();
});

test('accepts a token for one app only, even if two apps have the same keys', async () => {
  const other = createUserTokens({
    workspaceId: 'shop',
    appId: 'other',
    keys: readPublicKeys(ed.publicPem),
    isRequired: true,
    allowsVisitors: true,
  });
  expect(await judge(valid)).toBeNull();
  expect(await other.verify(valid, 'u-771', NOW)).toBe('wrong_app');
});

test('does not verify tokens with a key of another algorithm', async () => {
  const onlyRsa = getTokens([rsa.publicPem]);
  expect(await onlyRsa.verify(valid, 'u-771', NOW)).toBe('unknown_key');
  expect(await onlyRsa.verify(aToken(ec, sound), 'u-771', NOW)).toBe('unknown_key');
});

test('rejects any invalid text without throwing', async () => {
  const anyJson = fc.json().map(part);
  const anyPart = fc.oneof(
    anyJson,
    fc.base64String(),
    fc.string(),
    fc.constantFrom(head, body, signature, ''),
  );
  const anyToken = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(anyPart, { maxLength: 5 }).map((parts) => parts.join('.')),
  );
  await fc.assert(
    fc.asyncProperty(anyToken, async (token) => {
      fc.pre(token !== valid && token !== '');
      expect(await judge(token)).toBeTypeOf('string');
    }),
    { numRuns: 2_000 },
  );
});

test('rejects any change of a valid token', async () => {
  const change = fc.record({
    at: fc.nat(valid.length - 1),
    to: fc.constantFrom(...'ABCDEFabcdef0189-_.=+/ \u0000é'),
    cut: fc.nat(2),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
      let token = valid;
      for (const { at, to, cut } of changes) token = token.slice(0, at) + to + token.slice(at + cut);
      const bytes = (text: string) =>
        text.split('.').map((each) => Buffer.from(each, 'base64url').toString('hex'));
      // Base64 has several encodings of the same bytes at the end of a part.
      fc.pre(bytes(token).join('.') !== bytes(valid).join('.'));
      expect(await judge(token)).toBeTypeOf('string');
    }),
    { numRuns: 2_000 },
  );
});

test('accepts a signed token only with this user, this app and a future expiration', async () => {
  const anything = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom('u-771', 'web-shop', SECONDS + 60, SECONDS + 31 * DAY),
  );
  const someClaims = fc.record(
    { sub: anything, aud: anything, exp: anything, nbf: anything, iat: anything },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(someClaims, async (given) => {
      const fault = await judge(aToken(ed, given));
      if (fault !== null) return;
      expect(given.sub).toBe('u-771');
      expect([given.aud].flat()).toContain('web-shop');
      expect(given.exp).toBeTypeOf('number');
      expect(given.exp).toBeLessThanOrEqual(SECONDS + 30 * DAY + 60);
    }),
    { numRuns: 1_000 },
  );
});
