// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PREVIEW_PATH, VISITOR_JOIN_PATH } from '../../src/protocol/index.ts';
import { createService, openStore, type Service, type Store } from '../../src/service/index.ts';
import { APP_ID, aCampaign, aVariant, aWorkspace, CLIENT_KEY, SERVER_KEY } from '../helpers/a-workspace.ts';
import { API_ROUTES, keyFor, NO_LIMITS } from '../helpers/api-routes.ts';
import { getBodies, toBytes } from '../helpers/fuzz-bodies.ts';
import { patience } from '../helpers/patience.ts';
import fc, { times } from '../helpers/property.ts';
import { recordingLog } from '../helpers/running-service.ts';

/** Bodies per endpoint. */
const BODIES = times(500);
/** Maximum time of a response, on a busy machine. */
const HANG_MS = patience(10_000);
const BUDGET_MS = patience(Math.max(120_000, BODIES * 40));

const ROUTES = new Map(API_ROUTES.flatMap((route) => (route.body ? [[route.path, route]] : [])));
const PATHS = [...ROUTES.keys()];
/** Endpoints that need a link, a user token or a draft, which random bodies never name. */
const NEED_MORE_THAN_A_BODY: string[] = [PREVIEW_PATH, VISITOR_JOIN_PATH, '/campaigns/translations'];
const NEIGHBOUR_KEY = 'neighbour-key';

let store: Store;
let service: Service;
let bannerIds: string[];
const lines: Record<string, unknown>[] = [];

const send = (path: string, key: string, body: Uint8Array, method = 'POST') =>
  service.fetch(
    new Request(`http://localhost${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: body as BodyInit,
    }),
  );
const getKey = (path: string) => keyFor(ROUTES.get(path)!);

beforeAll(async () => {
  store = await openStore(':memory:');
  service = createService({
    workspaces: [
      aWorkspace({
        limits: NO_LIMITS,
        integrations: [],
        campaigns: [
          aCampaign({
            campaign_id: 'vip',
            priority: 'high',
            audience: { tier: { $in: ['gold', 1] }, 'a.b': { $exists: false } },
          }),
          aCampaign({
            placements: ['home', 'side'],
            reeligible_after_hours: 0,
            variants: [
              aVariant({
                properties: {
                  h: { type: 'string', value: '{{custom_attribute.${tier}}} {{${first_name}}}' },
                },
              }),
            ],
          }),
        ],
      }),
      aWorkspace({
        workspace_id: 'neighbour',
        api_keys: [{ type: 'server', key: NEIGHBOUR_KEY, permissions: ['users.track', 'users.export.ids'] }],
      }),
    ],
    store,
    log: recordingLog(lines),
  });
  const neighbour = Buffer.from(
    JSON.stringify({ attributes: [{ external_id: 'u-1', secret: 'neighbour-secret' }] }),
  );
  expect((await send('/users/track', NEIGHBOUR_KEY, neighbour)).status).toBe(201);
  const asked = { external_user_id: 'u-1', app_id: APP_ID, app_version: '1', placements: ['home', 'side'] };
  const sync = await send(
    '/v1/device-messaging/banners/sync',
    CLIENT_KEY,
    Buffer.from(JSON.stringify(asked)),
  );
  const { banners } = (await sync.json()) as { banners: Record<string, { id: string }> };
  bannerIds = [banners['home']!.id, banners['side']!.id];
});
afterAll(() => service.close());

describe('random cursors', () => {
  test(
    '/cdi/integrations returns a page or a 400',
    async () => {
      const texts = fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.bigInt().map((skip) => `skip:${skip}`),
      );
      const cursors = fc.oneof(
        fc.webQueryParameters(),
        texts.map((text) => `cursor=${encodeURIComponent(Buffer.from(text).toString('base64'))}`),
        texts.map((text) => `cursor=${encodeURIComponent(text.toWellFormed())}&cursor=`),
      );
      await fc.assert(
        fc.asyncProperty(cursors, async (search) => {
          const { status } = await service.fetch(
            new Request(`http://localhost/cdi/integrations?${search}`, {
              headers: { authorization: `Bearer ${SERVER_KEY}` },
            }),
          );
          return status === 200 || status === 400;
        }),
        { numRuns: BODIES },
      );
    },
    BUDGET_MS,
  );
});

describe('random bodies', () => {
  test.each(PATHS)(
    '%s responds quickly, without a 5xx and without data of another workspace',
    async (path) => {
      const statuses = new Map<number, number>();
      const bodies = getBodies(ROUTES.get(path)!, bannerIds).chain((body) =>
        toBytes(JSON.stringify(body) ?? ''),
      );
      await fc.assert(
        fc.asyncProperty(bodies, async (bytes) => {
          const started = performance.now();
          const answer = await send(path, getKey(path), bytes, ROUTES.get(path)!.method);
          const text = await answer.text();
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
          if (answer.status >= 500) throw new Error(`${answer.status}: ${JSON.stringify(lines.at(-1))}`);
          if (text.includes('neighbour')) throw new Error('The response has data of another workspace');
          const body: unknown = JSON.parse(text);
          if (typeof body !== 'object' || body === null) throw new Error('The response is not an object');
          if (performance.now() - started > HANG_MS) throw new Error('The response took too long');
        }),
        { numRuns: BODIES, interruptAfterTimeLimit: BUDGET_MS - 20_000, markInterruptAsFailure: true },
      );
      console.log(
        `${path}: ${BODIES} bodies, by status ${JSON.stringify(Object.fromEntries([...statuses].sort()))}`,
      );
      // Otherwise all bodies are rejected for the same reason, and the run tests nothing.
      if (!NEED_MORE_THAN_A_BODY.includes(path))
        expect([...statuses.keys()].filter((status) => status < 300)).not.toEqual([]);
      expect(statuses.get(400)).toBeGreaterThan(0);
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    },
    BUDGET_MS,
  );

  test('do not affect the other workspace, corrupt stored data or log errors', async () => {
    const asked = Buffer.from(JSON.stringify({ external_ids: ['u-1'] }));
    const answer = await send('/users/export/ids', NEIGHBOUR_KEY, asked);
    const { users } = (await answer.json()) as { users: Record<string, unknown>[] };
    expect(users).toEqual([
      expect.objectContaining({ external_id: 'u-1', custom_attributes: { secret: 'neighbour-secret' } }),
    ]);
    let count = 0;
    for await (const user of store.exportUsers('test')) count += JSON.stringify(user).length > 0 ? 1 : 0;
    for await (const event of store.exportEvents('test')) count += JSON.stringify(event).length > 0 ? 1 : 0;
    for await (const event of store.exportBannerEvents('test'))
      count += JSON.stringify(event).length > 0 ? 1 : 0;
    expect(count).toBeGreaterThan(10);
    expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
    expect(JSON.stringify(lines)).not.toMatch(/example\.org|48123456789/);
  });
});
