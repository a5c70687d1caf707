import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  anOperator,
  aStudioWorkspace,
  OPERATORS,
  type RunningStudio,
  runStudio,
} from '../../helpers/running-studio.ts';

const HOUR_MS = 60 * 60 * 1000;

let studio: RunningStudio;
beforeEach(async () => {
  studio = await runStudio();
});
afterEach(() => studio.stop());

const whoIs = async (cookie?: string) => {
  const { status, body } = await studio.call('GET', '/api/session', { cookie });
  return status === 200 ? body.operator.name : status;
};

describe('sign-in with a key', () => {
  test('sets a cookie that scripts and other sites cannot use', async () => {
    const { status, headers } = await studio.call('POST', '/api/session', { body: { key: 'Ed-key' } });
    expect(status).toBe(204);
    expect(headers.get('set-cookie')).toMatch(
      /^placard-studio=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/,
    );
    expect(headers.get('strict-transport-security')).toBeNull();
    expect(await whoIs(await studio.signIn('Ed'))).toBe('Ed');
  });

  test('sets a Secure cookie with the host prefix if the Studio is served over TLS', async () => {
    const behindTls = await runStudio(aStudioWorkspace(), { publicUrl: 'https://studio.example' });
    const { headers } = await behindTls.call('POST', '/api/session', { body: { key: 'Ed-key' } });
    expect(headers.get('set-cookie')).toMatch(
      /^__Host-placard-studio=.*; Path=\/; HttpOnly; SameSite=Strict; .*; Secure$/,
    );
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000');
    await behindTls.stop();
  });

  test('stores only the hash of the cookie', async () => {
    const cookie = await studio.signIn('Ed');
    const [session] = await studio.store.studio.sessions('test');
    expect(session?.sessionId).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(session)).not.toContain(cookie.split('=')[1]);
  });

  test.each(['', 'nobody-key', 'Ed-key ', ' Ed-key'])(
    'rejects the key %j unless it is the operator’s',
    async (key) => {
      const { status, headers } = await studio.call('POST', '/api/session', { body: { key } });
      const isTheirs = key.trim() === 'Ed-key';
      expect(status).toBe(key === '' ? 400 : isTheirs ? 204 : 401);
      expect(headers.get('set-cookie') === null).toBe(!isTheirs);
    },
  );

  test('rejects a key that is not a string, is huge, or has extra members', async () => {
    const bodies = [{ key: 7 }, { key: ['Ed-key'] }, { key: 'Ed-key', role: 'admin' }, [], 'Ed-key', null];
    for (const body of bodies) {
      expect((await studio.call('POST', '/api/session', { body: JSON.stringify(body) })).status).toBe(400);
    }
    studio.clock.now += HOUR_MS;
    expect((await studio.call('POST', '/api/session', { body: { key: 'x'.repeat(10_000) } })).status).toBe(
      401,
    );
    expect((await studio.call('POST', '/api/session', { body: { key: 'x'.repeat(600_000) } })).status).toBe(
      413,
    );
  });

  test('allows ten attempts per minute', async () => {
    const tryOnce = () => studio.call('POST', '/api/session', { body: { key: 'guess' } });
    for (let i = 0; i < 10; i += 1) expect((await tryOnce()).status).toBe(401);
    const refused = await tryOnce();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    studio.clock.now += 61_000;
    await expect(studio.signIn('Ed')).resolves.toMatch(/^placard-studio=/);
  });
});

describe('session', () => {
  test('ends once the clock is correct again if it was opened while the clock was ahead', async () => {
    const now = studio.clock.now;
    studio.clock.now += 10 * HOUR_MS;
    const early = await studio.signIn('Ed');
    studio.clock.now = now;
    expect(await whoIs(early)).toBe(401);
    // Clocks of two replicas differ slightly.
    studio.clock.now = now + 30_000;
    const cookie = await studio.signIn('Ed');
    studio.clock.now = now;
    expect(await whoIs(cookie)).toBe('Ed');
  });

  test('ends when the operator signs out, in the browser and in the database', async () => {
    const cookie = await studio.signIn('Ed');
    const { headers } = await studio.call('DELETE', '/api/session', { cookie });
    expect(headers.get('set-cookie')).toMatch(/^placard-studio=; .*Max-Age=0/);
    expect(await whoIs(cookie)).toBe(401);
  });

  test('ends after an hour without a request, and not before', async () => {
    const cookie = await studio.signIn('Ed');
    studio.clock.now += HOUR_MS - 1;
    expect(await whoIs(cookie)).toBe('Ed');
    studio.clock.now += HOUR_MS;
    expect(await whoIs(cookie)).toBe(401);
  });

  test('is not extended by polls of an open page', async () => {
    const cookie = await studio.signIn('Ed');
    const poll = () => studio.call('GET', '/api/session', { cookie, headers: { 'placard-poll': '1' } });
    for (let sent = 0; sent < 5; sent += 1) {
      studio.clock.now += HOUR_MS / 5 - 1;
      expect((await poll()).status).toBe(200);
    }
    studio.clock.now += 5;
    expect((await poll()).status).toBe(401);
  });

  test('ends after twelve hours, even with activity', async () => {
    const cookie = await studio.signIn('Ed');
    for (let half = 0; half < 23; half += 1) {
      studio.clock.now += HOUR_MS / 2;
      expect(await whoIs(cookie)).toBe('Ed');
    }
    studio.clock.now += HOUR_MS / 2;
    expect(await whoIs(cookie)).toBe(401);
  });

  test('ends when the operator is removed from the workspace file, and has the role that the file now sets', async () => {
    const cookie = await studio.signIn('Ed');
    studio.edit(aStudioWorkspace({ operators: [...OPERATORS.slice(2), anOperator('Ed', 'view')] }));
    const { body } = await studio.call('GET', '/api/session', { cookie });
    expect(body.operator.role).toBe('view');
    studio.edit(aStudioWorkspace({ operators: OPERATORS.slice(2) }));
    expect(await whoIs(cookie)).toBe(401);
  });

  test('ends when the key of its operator in the workspace file changes', async () => {
    const cookie = await studio.signIn('Ed');
    const rotated = { ...anOperator('Ed', 'edit'), key_sha256: anOperator('Ed2', 'edit').key_sha256 };
    studio.edit(aStudioWorkspace({ operators: [rotated] }));
    expect(await whoIs(cookie)).toBe(401);
    expect(await studio.store.studio.sessions('test')).toEqual([]);
    studio.edit(aStudioWorkspace());
    expect(await whoIs(cookie)).toBe(401);
  });

  test.each([undefined, 'placard-studio=', 'placard-studio=made-up', 'other=1', '__Host-placard-studio=x'])(
    'rejects the cookie %j',
    async (cookie) => expect(await whoIs(cookie)).toBe(401),
  );

  test('ends if any admin of the same workspace ends it', async () => {
    const [ed, ada] = [await studio.signIn('Ed'), await studio.signIn('Ada')];
    const { body } = await studio.call('GET', '/api/access', { cookie: ada });
    const { id } = body.sessions.find(({ operator }: { operator: string }) => operator === 'Ed');
    expect((await studio.call('DELETE', `/api/sessions/${id}`, { cookie: ed })).status).toBe(403);
    expect((await studio.call('DELETE', `/api/sessions/${id}`, { cookie: ada })).status).toBe(204);
    expect(await whoIs(ed)).toBe(401);
    expect((await studio.call('DELETE', `/api/sessions/${id}`, { cookie: ada })).status).toBe(404);
  });
});
