import { createHash } from 'node:crypto';
import { SYNC_PATH } from '../../src/protocol/index.ts';
import {
  createService,
  openStore,
  type Service,
  type Store,
  watchReleases,
} from '../../src/service/index.ts';
import { parseWorkspace } from '../../src/service/workspace/parse-workspace.ts';
import { createRegistry } from '../../src/service/workspace/workspace.ts';
import { createStudio } from '../../src/studio/index.ts';
import { APP_ID, aWorkspace, CLIENT_KEY, SERVER_KEY } from './a-workspace.ts';
import { type Answered, readAnswer, recordingLog } from './running-service.ts';

export const ORIGIN = 'http://127.0.0.1:8788';
/** Public URL of the service. */
export const SERVICE_URL = 'https://api.example';
const sha256 = (key: string) => createHash('sha256').update(key).digest('hex');

/** An operator of a workspace file; the key is the name plus `-key`. */
export const anOperator = (name: string, role: string, more: Record<string, unknown> = {}) => ({
  name,
  role,
  key_sha256: sha256(`${name}-key`),
  ...more,
});

export const OPERATORS = [
  anOperator('Vera', 'view'),
  anOperator('Ed', 'edit'),
  anOperator('Pia', 'publish'),
  anOperator('Ada', 'admin', { can_view_users: true }),
];

export interface StudioCall {
  body?: unknown;
  cookie?: string | undefined;
  ifMatch?: string;
  headers?: Record<string, string | null>;
}

/** A workspace whose campaigns are released in the Studio. */
export const aStudioWorkspace = (members: Record<string, unknown> = {}) =>
  aWorkspace({
    name: 'Test shop',
    campaigns_from: 'studio',
    placements: [{ placement_id: 'home', name: 'Home', template: 'hero' }, { placement_id: 'side' }],
    operators: OPERATORS,
    studio: {
      sites: ['https://shop.example'],
      time_zone: 'Europe/Berlin',
      personas: [{ name: 'Gold', attributes: { first_name: 'Jo', tier: 'gold' } }],
    },
    ...members,
  });

/** A Studio and a service on one store, without ports, on a fixed clock. */
export const runStudio = async (
  content: Record<string, unknown> = aStudioWorkspace(),
  {
    store: given,
    publicUrl,
    serviceUrl = SERVICE_URL,
  }: { store?: Store; publicUrl?: string; serviceUrl?: string | null } = {},
) => {
  const lines: Record<string, unknown>[] = [];
  const log = recordingLog(lines);
  const clock = { now: Date.parse('2026-03-02T09:00:00Z') };
  const now = () => clock.now;
  const store = given ?? (await openStore(':memory:'));
  let registry = createRegistry([{ workspace: parseWorkspace(content), source: 'test' }]);
  const source = { registry: () => registry, stop: () => undefined };
  const workspaces = await watchReleases(source, store.studio, { log, now, pollMs: 60_000 });
  const service: Service = createService({ workspaces, store, now, log });
  const studio = createStudio({
    workspaces,
    store,
    service,
    serviceUrl,
    pages: null,
    now,
    log,
    ...(publicUrl !== undefined && { publicUrl }),
  });

  const call = async (
    method: string,
    path: string,
    { body, cookie, ifMatch, headers = {} }: StudioCall = {},
  ): Promise<Answered> => {
    const origin = publicUrl ?? ORIGIN;
    const all: Record<string, string | null> = {
      host: new URL(origin).host,
      ...(method !== 'GET' && { origin, 'sec-fetch-site': 'same-origin' }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(cookie !== undefined && { cookie }),
      ...(ifMatch !== undefined && { 'if-match': `"${ifMatch}"` }),
      ...headers,
    };
    const sent = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null);
    return readAnswer(
      await studio.fetch(
        new Request(origin + path, {
          method,
          headers: sent,
          ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        }),
      ),
    );
  };
  const post = (key: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
    service.fetch(
      new Request(`http://localhost${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    );
  const toApi = async (path: string, body: unknown): Promise<void> => {
    const response = await post(SERVER_KEY, path, body);
    if (!response.ok) throw new Error(await response.text());
  };

  return {
    store,
    service,
    studio,
    clock,
    lines,
    workspaces,
    call,
    /** Replaces the workspace file. */
    edit(edited: Record<string, unknown>) {
      registry = createRegistry([{ workspace: parseWorkspace(edited), source: 'test' }]);
    },
    /** Signs an operator in; returns the session cookie. */
    async signIn(name: string): Promise<string> {
      const { status, headers } = await call('POST', '/api/session', { body: { key: `${name}-key` } });
      if (status !== 204) throw new Error(`${name} was not let in: ${status}`);
      return headers.get('set-cookie')!.split(';')[0]!;
    },
    /** Returns the headline of each placement that a user gets now. */
    async headlines(user: string, placements = ['home', 'side']): Promise<Record<string, string | null>> {
      const body = { external_user_id: user, app_id: APP_ID, app_version: '1', placements };
      const response = await post(CLIENT_KEY, SYNC_PATH, body);
      const { banners } = await response.json();
      return Object.fromEntries(
        placements.map((placement) => [placement, banners[placement]?.properties?.headline?.value ?? null]),
      );
    },
    /** Sends a request with the client key. */
    fromPage: async (path: string, body: unknown, headers?: Record<string, string>): Promise<Answered> =>
      readAnswer(await post(CLIENT_KEY, path, body, headers)),
    async track(body: unknown): Promise<void> {
      await toApi('/users/track', body);
    },
    async erase(externalId: string): Promise<void> {
      await toApi('/users/delete', { external_ids: [externalId] });
    },
    async stop() {
      workspaces.stop();
      await service.close();
    },
  };
};
export type RunningStudio = Awaited<ReturnType<typeof runStudio>>;
