import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
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
        can_view_users: ['support'],
        ...more,
      },
    },
  });

beforeEach(async () => {
  provider = await runIdentityProvider(SECRET);
  vi.stubEnv('STUDIO_SECRET', SECRET);
  studio = await runStudio(content());
});
afterEach(async () => {
  await studio.stop();
  await provider.stop();
  vi.unstubAllEnvs();
});

const getCookie = (answer: { headers: Headers }) => answer.headers.get('set-cookie')?.split(';')[0];

/** Follows the redirects as a browser does: to the provider, and back with its response. */
const walk = async () => {
  const start = await studio.call('GET', '/openid/start?workspace=test');
  const there = await fetch(start.headers.get('location')!, { redirect: 'manual' });
  const back = new URL(there.headers.get('location')!);
  return { start, pending: getCookie(start)!, back: back.pathname + back.search };
};
const signIn = async () => {
  const { pending, back } = await walk();
  return studio.call('GET', back, { cookie: pending });
};
const getProblem = (answer: { headers: Headers }) =>
  new URL(answer.headers.get('location')!, 'http://x').searchParams.get('problem');

describe('sign-in with OpenID Connect', () => {
  test('lists the provider on the login page, without a session', async () => {
    const { body } = await studio.call('GET', '/api/sign-in');
    expect(body.providers).toEqual([
      { workspaceId: 'test', name: 'Test shop', host: new URL(provider.issuer).host },
    ]);
  });

  test('opens a session with the highest role that the claims grant', async () => {
    provider.claims = {
      email: 'mia@shop.example',
      email_verified: true,
      groups: ['marketing', 'leads', 'others'],
    };
    const answer = await signIn();
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/']);
    expect(answer.headers.get('set-cookie')).toContain('SameSite=Strict');
    const { body } = await studio.call('GET', '/api/session', { cookie: getCookie(answer) });
    expect(body.operator).toEqual({ name: 'mia@shop.example', role: 'publish', canViewUsers: false });
    const audit = await studio.store.studio.audit('test', { limit: 1 });
    expect(audit).toMatchObject([{ operator: 'mia@shop.example', details: 'with OpenID Connect' }]);
  });

  test('grants permission to view users by a claim', async () => {
    provider.claims = { name: 'Sam', groups: ['marketing', 'support'] };
    const { body } = await studio.call('GET', '/api/session', { cookie: getCookie(await signIn()) });
    expect(body.operator).toMatchObject({ role: 'edit', canViewUsers: true });
  });

  test.each([{}, { groups: [] }, { groups: ['toString'] }, { groups: 7 }, { roles: ['leads'] }])(
    'rejects the claims %j',
    async (claims) => {
      provider.claims = claims;
      const answer = await signIn();
      expect(getProblem(answer)).toBe('No access. Ask an admin for a role.');
    },
  );

  test('ends the session if the workspace no longer trusts the provider', async () => {
    provider.claims = { groups: 'leads' };
    const cookie = getCookie(await signIn());
    studio.edit(aStudioWorkspace());
    expect((await studio.call('GET', '/api/session', { cookie })).status).toBe(401);
  });

  test('gives the session the role that the workspace file currently maps to its claims', async () => {
    provider.claims = { groups: ['leads', 'support'] };
    const cookie = getCookie(await signIn());
    const now = async () => (await studio.call('GET', '/api/session', { cookie })).body.operator;
    expect(await now()).toMatchObject({ role: 'publish', canViewUsers: true });
    studio.edit(content({ roles: { leads: 'view' }, can_view_users: [] }));
    expect(await now()).toMatchObject({ role: 'view', canViewUsers: false });
    studio.edit(content({ roles: { marketing: 'edit' } }));
    expect(await now()).toBeUndefined();
  });

  test.each([
    ['issuer', { issuer: 'https://id.example' }],
    ['claim', { role_claim: 'roles' }],
  ])('ends the session if the workspace reads roles from another %s', async (_, more) => {
    provider.claims = { groups: 'leads' };
    const cookie = getCookie(await signIn());
    studio.edit(content(more));
    expect((await studio.call('GET', '/api/session', { cookie })).status).toBe(401);
  });

  test('rejects an ID token signed by another key', async () => {
    provider.claims = { groups: 'leads' };
    provider.signsWithForeignKey = true;
    expect(getProblem(await signIn())).toMatch(/did not confirm/);
  });

  test('identifies the operator by a verified email address, else by the subject ID', async () => {
    const nameWith = async (claims: Record<string, unknown>) => {
      provider.claims = { groups: 'leads', ...claims };
      const cookie = getCookie(await signIn());
      return (await studio.call('GET', '/api/session', { cookie })).body.operator.name;
    };
    const { host } = new URL(provider.issuer);
    expect(await nameWith({ email: 'mia@shop.example', email_verified: true })).toBe('mia@shop.example');
    expect(await nameWith({ email: 'Ada' })).toBe(`u-1 at ${host}`);
    expect(await nameWith({ email: 'Ada', email_verified: false, name: ' Ada\n ' })).toBe(
      `Ada (u-1 at ${host})`,
    );
  });

  test('allows thirty starts and callbacks a minute per IP address', async () => {
    for (let tries = 0; tries < 30; tries += 1) {
      expect((await studio.call('GET', '/openid/callback?code=x&state=y')).status).toBe(303);
    }
    for (const path of ['/openid/callback?code=x&state=y', '/openid/start?workspace=test']) {
      expect((await studio.call('GET', path)).status).toBe(429);
    }
    studio.clock.now += 61_000;
    expect((await studio.call('GET', '/openid/start?workspace=test')).status).toBe(303);
  });

  test('rejects another state, a missing cookie, and reuse', async () => {
    provider.claims = { groups: 'leads' };
    const { pending, back } = await walk();
    const refused = /did not confirm|sign-in expired/;
    expect(
      getProblem(await studio.call('GET', back.replace(/state=[^&]+/, 'state=other'), { cookie: pending })),
    ).toMatch(refused);
    expect(getProblem(await studio.call('GET', back))).toMatch(refused);
    expect(getProblem(await studio.call('GET', back, { cookie: 'placard-openid=nonsense' }))).toMatch(
      refused,
    );
    expect((await studio.call('GET', back, { cookie: pending })).headers.get('location')).toBe('/');
    expect(getProblem(await studio.call('GET', back, { cookie: pending }))).toMatch(refused);
  });

  test.each([
    ['another nonce', { nonce: 'other' }],
    ['another audience', { aud: 'another-client' }],
    ['another issuer', { iss: 'https://evil.example' }],
  ])('rejects an ID token of %s', async (_, wrong) => {
    provider.claims = { groups: 'leads' };
    provider.spoil = (payload) => ({ ...payload, ...wrong });
    expect(getProblem(await signIn())).toMatch(/did not confirm/);
  });

  test('redirects to the login page for a workspace without a provider', async () => {
    expect((await studio.call('GET', '/openid/start?workspace=other')).headers.get('location')).toBe('/');
  });

  test('reads the secret from the file in its _FILE variable', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'placard-secret-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'secret'), `${SECRET}\n`);
    vi.stubEnv('STUDIO_SECRET', undefined);
    vi.stubEnv('STUDIO_SECRET_FILE', join(folder, 'secret'));
    provider.claims = { groups: 'leads' };
    expect((await signIn()).headers.get('location')).toBe('/');
  });

  test('reports a missing secret only in the response', async () => {
    studio.edit(content({ client_secret_env: 'NOT_SET' }));
    expect((await studio.call('GET', '/openid/start?workspace=test')).status).toBe(500);
  });
});
