import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStore, type Store } from '../../../src/service/index.ts';
import { keptOpen, STORES } from '../../helpers/running-service.ts';
import {
  anOperator,
  aStudioWorkspace,
  OPERATORS,
  type RunningStudio,
  runStudio,
} from '../../helpers/running-studio.ts';

const DAY_MS = 86_400_000;

describe.each(STORES)('invitation on $name', ({ address }) => {
  let store: Store;
  let studio: RunningStudio;
  let ada: string;
  beforeEach(async () => {
    store = await openStore(await address());
    studio = await runStudio(aStudioWorkspace(), { store: keptOpen(store) });
    ada = await studio.signIn('Ada');
  });
  afterEach(async () => {
    await studio.stop();
    await store.close();
  });

  const invite = (more: Record<string, unknown> = {}, cookie = ada) =>
    studio.call('POST', '/api/operators', {
      body: { name: 'Nia', role: 'publish', can_view_users: false, key: 'Ada-key', ...more },
      cookie,
    });
  const accept = (token: string) => studio.call('POST', '/api/invitations', { body: { token } });
  const whoIs = async (cookie: string) => {
    const { status, body } = await studio.call('GET', '/api/session', { cookie });
    return status === 200 ? body.operator : status;
  };
  const cookieIn = ({ headers }: { headers: Headers }) => headers.get('set-cookie')!.split(';')[0]!;
  /** Invites Nia, who accepts. Returns her key and cookie. */
  const letIn = async (more: Record<string, unknown> = {}) => {
    const accepted = await accept((await invite(more)).body.token);
    expect(accepted.status).toBe(201);
    return { key: String(accepted.body.key), cookie: cookieIn(accepted) };
  };

  test('signs the operator in with its role and rights, and gives a key to sign in again', async () => {
    const { key, cookie } = await letIn({ can_view_users: true });
    const nia = { name: 'Nia', role: 'publish', canViewUsers: true };
    expect(await whoIs(cookie)).toEqual(nia);
    const again = await studio.call('POST', '/api/session', { body: { key } });
    expect(again.status).toBe(204);
    expect(await whoIs(cookieIn(again))).toEqual(nia);
    const { operators } = (await studio.call('GET', '/api/access', { cookie: ada })).body;
    expect(operators.at(-1)).toEqual({ ...nia, invitedBy: 'Ada', linkExpiresAt: null });
    const audit = await store.studio.audit('test', { limit: 10 });
    expect(audit).toContainEqual(
      expect.objectContaining({
        operator: 'Ada',
        action: 'operator.invite',
        subject: 'Nia',
        details: 'publish, can view users',
      }),
    );
  });

  test('stores the token and the key only as hashes', async () => {
    const { body } = await invite();
    const { key } = (await accept(body.token)).body;
    const stored = JSON.stringify(await store.studio.invitedOperators('test'));
    expect(stored).toMatch(/"keyHash":"[0-9a-f]{64}"/);
    expect(stored).not.toContain(key);
    expect(stored).not.toContain(body.token);
  });

  test('works once, and for three days', async () => {
    const first = await invite();
    expect((await accept(first.body.token)).status).toBe(201);
    expect((await accept(first.body.token)).status).toBe(404);
    const second = await invite({ name: 'Tom' });
    studio.clock.now += 3 * DAY_MS;
    expect((await accept(second.body.token)).status).toBe(404);
    expect((await accept('x')).status).toBe(404);
  });

  test('accepts one of two concurrent requests', async () => {
    const { token } = (await invite()).body;
    const statuses = (await Promise.all([accept(token), accept(token)])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([201, 404]);
  });

  test('requires the role admin, the key of the admin, and rights that the admin has', async () => {
    expect((await invite({ key: 'Pia-key' })).status).toBe(403);
    expect((await invite({}, await studio.signIn('Pia'))).status).toBe(403);
    expect((await invite({ role: 'owner' })).status).toBe(400);
    studio.edit(aStudioWorkspace({ operators: [...OPERATORS, anOperator('Abe', 'admin')] }));
    const abe = await studio.signIn('Abe');
    expect((await invite({ key: 'Abe-key', can_view_users: true }, abe)).status).toBe(403);
    expect((await invite({ key: 'Abe-key' }, abe)).status).toBe(201);
  });

  test('rejects the name of another operator', async () => {
    expect((await invite({ name: 'Pia' })).status).toBe(409);
    expect((await invite()).status).toBe(201);
    expect((await invite()).status).toBe(409);
  });

  test('yields to an operator of the workspace file with the same name', async () => {
    const { key, cookie } = await letIn();
    studio.edit(aStudioWorkspace({ operators: [...OPERATORS, anOperator('Nia', 'view')] }));
    expect(await whoIs(cookie)).toBe(401);
    expect((await studio.call('POST', '/api/session', { body: { key } })).status).toBe(401);
    expect(await whoIs(await studio.signIn('Nia'))).toMatchObject({ role: 'view' });
  });

  test('ends the sessions and the key of a removed operator', async () => {
    const { key, cookie } = await letIn();
    const remove = () => studio.call('DELETE', '/api/operators/Nia', { cookie: ada });
    expect((await studio.call('DELETE', '/api/operators/Nia', { cookie })).status).toBe(403);
    expect((await remove()).status).toBe(204);
    expect((await remove()).status).toBe(404);
    expect(await whoIs(cookie)).toBe(401);
    expect((await studio.call('POST', '/api/session', { body: { key } })).status).toBe(401);
    expect((await studio.call('DELETE', '/api/operators/Pia', { cookie: ada })).status).toBe(404);
  });
});
