import { expect, test } from 'vitest';
import { openStore } from '../../../src/service/index.ts';
import { createPreviewTokens, type Preview } from '../../../src/service/routes/preview.ts';
import fc from '../../helpers/property.ts';
import { aToken, ed25519Keys, getHmac, part } from '../../helpers/token-keys.ts';

const NOW = Date.parse('2026-03-01T09:00:00Z');
const MINUTE = 60_000;
const preview: Preview = {
  campaignId: 'c1',
  revision: '7',
  variantId: 'b',
  personaId: 'gold-customer',
  language: 'pt-BR',
};
const tokens = createPreviewTokens({ ensureWorkspace: async (workspaceId) => `secret of ${workspaceId}` });
const claims = (members: Record<string, unknown> = {}) => ({
  preview,
  aud: 'placard preview',
  exp: NOW / 1000 + 60,
  ...members,
});

test('accepts a link for its content for 30 minutes', async () => {
  const token = await tokens.sign('shop', preview, NOW);
  expect(await tokens.verify('shop', token, NOW)).toEqual(preview);
  expect(await tokens.verify('shop', token, NOW + 30 * MINUTE - 1_000)).toEqual(preview);
  expect(await tokens.verify('shop', token, NOW + 30 * MINUTE)).toBe('expired');
});

test('accepts a link without variant and persona', async () => {
  const open = { ...preview, variantId: null, personaId: null };
  expect(await tokens.verify('shop', await tokens.sign('shop', open, NOW), NOW)).toEqual(open);
});

test('creates links that fit a QR code and need no URL encoding', async () => {
  const token = await tokens.sign('shop', preview, NOW);
  expect(token.length).toBeLessThan(400);
  expect(encodeURIComponent(token)).toBe(token);
});

test('rejects a link of another workspace', async () => {
  const token = await tokens.sign('shop', preview, NOW);
  expect(await tokens.verify('other', token, NOW)).toBe('invalid');
});

test('accepts a link on every replica and after restarts', async () => {
  const store = await openStore(':memory:');
  try {
    const token = await createPreviewTokens(store).sign('shop', preview, NOW);
    expect(await createPreviewTokens(store).verify('shop', token, NOW)).toEqual(preview);
  } finally {
    await store.close();
  }
});

test.each([
  ['nothing', ''],
  ['a text', 'preview'],
  ['alg none', `${part({ alg: 'none' })}.${part(claims())}.`],
  [
    'a signature with the secret itself',
    (() => {
      const text = `${part({ alg: 'HS256' })}.${part(claims())}`;
      return `${text}.${getHmac('secret of shop', text)}`;
    })(),
  ],
  ['a user token', aToken(ed25519Keys(), claims())],
])('rejects an invalid link: %s', async (_, token) => {
  expect(await tokens.verify('shop', token, NOW)).toBe('invalid');
});

test('rejects an altered link', async () => {
  const token = await tokens.sign('shop', preview, NOW);
  const toBytes = (text: string) =>
    text.split('.').map((each) => Buffer.from(each, 'base64url').toString('hex'));
  await fc.assert(
    fc.asyncProperty(fc.nat(token.length - 1), fc.constantFrom(...'AZaz09-_.'), async (at, to) => {
      const changed = token.slice(0, at) + to + token.slice(at + 1);
      fc.pre(toBytes(changed).join('.') !== toBytes(token).join('.'));
      expect(await tokens.verify('shop', changed, NOW)).toBe('invalid');
    }),
    { numRuns: 500 },
  );
});
