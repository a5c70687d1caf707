import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type IdentityProvider, runIdentityProvider } from '../../helpers/identity-provider.ts';
import { aStudioWorkspace, type RunningStudio, runStudio } from '../../helpers/running-studio.ts';

const SECRET = 'client-secret';

let provider: IdentityProvider;
let studio: RunningStudio;
const content = (more: Record<string, unknown> = {}) =>
  aStudioWorkspace({
    studio: {
      openid: {
        issuer: provider.issuer,
        client_id: 'placard',
        client_secret_env: 'STUDIO_SECRET',
        roles: { marketing: 'edit', leads: 'publish' },
        people: ['support'],
        ...more,
      },
    },
  });

beforeEach(async () => {
  provider = await runIdentityProvider(SECRET);
  studio = await runStudio(content(), { env: { STUDIO_SECRET: SECRET } });
});
afterEach(async () => {
  await studio.stop();
  await provider.stop();
});

const cookieOf = (answer: { headers: Headers }) => answer.headers.get('set-cookie')?.split(';')[0];

/** As a browser would: to the provider, and back with what it says. */
const walk = async () => {
  const start = await studio.call('GET', '/openid/start?workspace=test');
  const there = await fetch(start.headers.get('location')!, { redirect: 'manual' });
  const back = new URL(there.headers.get('location')!);
  return { start, pending: cookieOf(start)!, back: back.pathname + back.search };
};
const signIn = async () => {
  const { pending, back } = await walk();
  return studio.call('GET', back, { cookie: pending });
};
const problemOf = (answer: { headers: Headers }) =>
  new URL(answer.headers.get('location')!, 'http://x').searchParams.get('problem');

describe('a sign-in through an identity provider', () => {
  test('is offered on the login page, without a session', async () => {
    const { body } = await studio.call('GET', '/api/sign-in');
    expect(body.providers).toEqual([
      { workspaceId: 'test', name: 'Test shop', host: new URL(provider.issuer).host },
    ]);
  });

  test('opens a session with the highest role that the claims give', async () => {
    provider.claims = { email: 'mia@shop.example', groups: ['marketing', 'leads', 'others'] };
    const answer = await signIn();
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/']);
    expect(answer.headers.get('set-cookie')).toContain('SameSite=Strict');
    const { body } = await studio.call('GET', '/api/session', { cookie: cookieOf(answer) });
    expect(body.operator).toEqual({ name: 'mia@shop.example', role: 'publish', people: false });
    const audit = await studio.store.studio.audit('test', { limit: 1 });
    expect(audit).toMatchObject([{ operator: 'mia@shop.example', details: 'with OpenID Connect' }]);
  });

  test('gives the right to people where a claim does', async () => {
    provider.claims = { name: 'Sam', groups: ['marketing', 'support'] };
    const { body } = await studio.call('GET', '/api/session', { cookie: cookieOf(await signIn()) });
    expect(body.operator).toEqual({ name: 'Sam', role: 'edit', people: true });
  });

  test.each([{}, { groups: [] }, { groups: ['toString'] }, { groups: 7 }, { roles: ['leads'] }])(
    'is nobody with the claims %j',
    async (claims) => {
      provider.claims = claims;
      const answer = await signIn();
      expect(problemOf(answer)).toBe('You are known, and have no role in this Studio.');
    },
  );

  test('ends where the workspace trusts the provider no more', async () => {
    provider.claims = { groups: 'leads' };
    const cookie = cookieOf(await signIn());
    studio.edit(aStudioWorkspace());
    expect((await studio.call('GET', '/api/session', { cookie })).status).toBe(401);
  });

  test('is refused with another state, without the cookie, and a second time', async () => {
    provider.claims = { groups: 'leads' };
    const { pending, back } = await walk();
    const refused = /did not confirm|too long/;
    expect(
      problemOf(await studio.call('GET', back.replace(/state=[^&]+/, 'state=other'), { cookie: pending })),
    ).toMatch(refused);
    expect(problemOf(await studio.call('GET', back))).toMatch(refused);
    expect(problemOf(await studio.call('GET', back, { cookie: 'placard-openid=nonsense' }))).toMatch(refused);
    expect((await studio.call('GET', back, { cookie: pending })).headers.get('location')).toBe('/');
    expect(problemOf(await studio.call('GET', back, { cookie: pending }))).toMatch(refused);
  });

  test.each([
    ['another nonce', { nonce: 'other' }],
    ['another audience', { aud: 'another-client' }],
    ['another issuer', { iss: 'https://evil.example' }],
  ])('is refused with an ID token of %s', async (_, wrong) => {
    provider.claims = { groups: 'leads' };
    provider.spoil = (payload) => ({ ...payload, ...wrong });
    expect(problemOf(await signIn())).toMatch(/did not confirm/);
  });

  test('is not begun for a workspace without a provider', async () => {
    expect((await studio.call('GET', '/openid/start?workspace=other')).headers.get('location')).toBe('/');
  });

  test('says in the answer and nowhere else that the secret is not set', async () => {
    studio.edit(content({ client_secret_env: 'NOT_SET' }));
    expect((await studio.call('GET', '/openid/start?workspace=test')).status).toBe(500);
  });
});
