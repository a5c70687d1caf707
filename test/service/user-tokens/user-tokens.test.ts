import { expect, test } from 'vitest';
import { readPublicKeys } from '../../../src/service/user-tokens/public-keys.ts';
import {
  createUserTokens,
  type UserTokensOptions,
  verifyToken,
} from '../../../src/service/user-tokens/user-tokens.ts';
import { aToken, ed25519Keys } from '../../helpers/token-keys.ts';

const NOW = Date.parse('2026-03-01T09:00:00Z');
const SECONDS = NOW / 1000;
const VISITOR = 'placard-visitor-1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed';

const old = ed25519Keys();
const young = ed25519Keys();

const aTokens = (options: Partial<UserTokensOptions> = {}) =>
  createUserTokens({
    workspaceId: 'shop',
    appId: 'app',
    keys: [old, young].flatMap(({ publicPem }) => readPublicKeys(publicPem)),
    isRequired: true,
    allowsVisitors: false,
    ...options,
  });
const getToken = (sub: string, keys = old, exp = SECONDS + 3_600) => aToken(keys, { sub, aud: 'app', exp });

test('accepts tokens of both keys during a rotation, even without a kid', async () => {
  const tokens = aTokens();
  expect(await tokens.verify(getToken('u', old), 'u', NOW)).toBeNull();
  expect(await tokens.verify(getToken('u', young), 'u', NOW)).toBeNull();
  expect(await tokens.verify(getToken('u', ed25519Keys()), 'u', NOW)).toBe('bad_signature');
});

test('accepts requests without an optional token, and rejects an invalid one', async () => {
  const tokens = aTokens({ isRequired: false });
  expect(await tokens.verify(undefined, 'u', NOW)).toBeNull();
  expect(await tokens.verify(getToken('u'), 'u', NOW)).toBeNull();
  expect(await tokens.verify(getToken('u'), 'other', NOW)).toBe('wrong_user');
});

test('accepts visitors in an app with required tokens only if it allows them', async () => {
  expect(await aTokens().verify(undefined, VISITOR, NOW)).toBe('missing');
  const open = aTokens({ allowsVisitors: true });
  expect(await open.verify(undefined, VISITOR, NOW)).toBeNull();
  for (const userId of ['placard-visitor-1', 'u-771', `${VISITOR}0`, VISITOR.toUpperCase(), ` ${VISITOR}`]) {
    expect(await open.verify(undefined, userId, NOW)).toBe('missing');
  }
});

/** Counts signature verifications. */
const counting = () => {
  const count = { verified: 0 };
  const verify: typeof verifyToken = (...given) => {
    count.verified += 1;
    return verifyToken(...given);
  };
  return { count, verify };
};

test('verifies a token once and caches it until it expires', async () => {
  const { count, verify } = counting();
  const tokens = aTokens({ verify });
  const token = getToken('u');
  for (let time = 0; time < 10; time += 1) expect(await tokens.verify(token, 'u', NOW + time)).toBeNull();
  // One more minute of leeway for clock skew.
  expect(await tokens.verify(token, 'u', NOW + 3_659_999)).toBeNull();
  expect(await tokens.verify(token, 'u', NOW + 3_660_000)).toBe('expired');
  expect(count.verified).toBe(1);
  expect(await aTokens().verify(token, 'u', NOW + 3_659_999)).toBeNull();
  expect(await aTokens().verify(token, 'u', NOW + 3_660_000)).toBe('expired');
});

test('limits cached tokens by evicting the oldest', async () => {
  const { count, verify } = counting();
  const tokens = aTokens({ verify, maxRemembered: 3 });
  const tokenByUser = new Map(['a', 'b', 'c', 'd'].map((user) => [user, getToken(user)]));
  const judge = (user: string) => tokens.verify(tokenByUser.get(user), user, NOW);
  for (const user of tokenByUser.keys()) expect(await judge(user)).toBeNull();
  for (const user of ['b', 'c', 'd']) expect(await judge(user)).toBeNull();
  expect(count.verified).toBe(4);
  expect(await judge('a')).toBeNull();
  expect(count.verified).toBe(5);
});

test('does not cache invalid tokens', async () => {
  const { count, verify } = counting();
  const tokens = aTokens({ verify, maxRemembered: 1 });
  const token = getToken('u');
  await tokens.verify(token, 'u', NOW);
  for (let index = 0; index < 5; index += 1)
    await tokens.verify(getToken(`u-${index}`, ed25519Keys()), 'u', NOW);
  expect(await tokens.verify(token, 'u', NOW)).toBeNull();
  expect(count.verified).toBe(6);
});
