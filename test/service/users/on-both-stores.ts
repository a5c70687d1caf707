import { afterAll, beforeAll, beforeEach, describe } from 'vitest';
import {
  createService,
  exportLines,
  openStore,
  type Service,
  type Store,
} from '../../../src/service/index.ts';
import { APP_ID, aWorkspace, SERVER_KEY } from '../../helpers/a-workspace.ts';
import { aDatabase } from '../../helpers/postgres.ts';

export { APP_ID };
export const NEWSLETTER = '7d1f2a00-0000-4000-8000-000000000001';
export const SMS_GROUP = '7d1f2a00-0000-4000-8000-000000000002';
export const BLOCKED = 'blocked-user';
/** Clock at the start of each test. */
export const NOW = Date.parse('2026-03-01T09:00:00Z');

export interface Api {
  workspaceId: string;
  clock: { now: number };
  post(path: string, body: unknown): Promise<{ status: number; body: Record<string, unknown> }>;
  track(body: unknown): Promise<{ status: number; body: Record<string, unknown> }>;
  /** All users, events and purchases, as exported. */
  users(): Promise<Record<string, unknown>[]>;
  user(externalId: string): Promise<Record<string, unknown> | undefined>;
  custom(externalId: string): Promise<Record<string, unknown>>;
  events(): Promise<Record<string, unknown>[]>;
  dataPoints(): Promise<unknown[]>;
}

const all = async (lines: AsyncIterable<unknown>) => {
  const rows: Record<string, unknown>[] = [];
  for await (const line of lines) rows.push(line as Record<string, unknown>);
  return rows;
};

let workspaces = 0;

/** `fetch` of a service over the store, with a unique workspace. */
export const anApi = (store: Store, members: Record<string, unknown> = {}): Api => {
  workspaces += 1;
  const workspaceId = `w-${workspaces}`;
  const clock = { now: NOW };
  const service: Service = createService({
    workspaces: [
      aWorkspace({
        workspace_id: workspaceId,
        subscription_groups: [
          { subscription_group_id: NEWSLETTER, name: 'Newsletter', channel: 'email' },
          { subscription_group_id: SMS_GROUP, name: 'Offers', channel: 'sms' },
        ],
        blocked_external_ids: [BLOCKED],
        ...members,
      }),
    ],
    store,
    now: () => clock.now,
  });
  const post = async (path: string, body: unknown) => {
    const response = await service.fetch(
      new Request(`http://service${path}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${SERVER_KEY}`, 'Content-Type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    );
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const users = () => all(exportLines(store, 'users', workspaceId));
  const user = async (externalId: string) =>
    (await users()).find((line) => line['external_id'] === externalId);
  return {
    workspaceId,
    clock,
    post,
    track: (body) => post('/users/track', body),
    users,
    user,
    custom: async (externalId) =>
      ((await user(externalId))?.['custom_attributes'] ?? {}) as Record<string, unknown>,
    events: () => all(exportLines(store, 'events', workspaceId)),
    dataPoints: () => all(exportLines(store, 'data-points', workspaceId)),
  };
};

const STORES: { name: string; address: () => Promise<string> }[] = [
  { name: 'SQLite', address: async () => ':memory:' },
  { name: 'PostgreSQL', address: aDatabase },
];

/** Runs a suite on both stores, with one workspace per test. */
export const onBothStores = (
  title: string,
  suite: (api: () => Api, store: () => Store) => void,
  members: Record<string, unknown> = {},
) => {
  describe.each(STORES)(`${title}, on $name`, ({ address }) => {
    let store: Store;
    let api: Api;
    beforeAll(async () => {
      store = await openStore(await address());
    });
    afterAll(() => store.close());
    beforeEach(() => {
      api = anApi(store, members);
    });
    suite(
      () => api,
      () => store,
    );
  });
};

/** Error codes of a response with their path: `attributes[0] EMAIL_BAD_FORMAT`. */
export const getErrors = ({ body }: { body: Record<string, unknown> }): string[] =>
  ((body['errors'] ?? []) as { type: string; input_array?: string; index?: number }[]).map(
    ({ type, input_array, index }) => (input_array === undefined ? type : `${input_array}[${index}] ${type}`),
  );
