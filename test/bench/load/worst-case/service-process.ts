// The service and the Studio with the data of the worst-case requests: users, campaigns, drafts, history. Sends its ports to
// the parent, and on request, in milliseconds of the main thread, its CPU time so far (`cpu`) or that of `reference` work.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CLIENT_PERMISSIONS, DAY_MS, SERVER_PERMISSIONS } from '../../../../src/protocol/index.ts';
import {
  createPreviewTokens,
  createService,
  listen,
  openStore,
  silentLog,
  tuneProcess,
  watchReleases,
} from '../../../../src/service/index.ts';
import { parseWorkspace } from '../../../../src/service/workspace/parse-workspace.ts';
import { createRegistry } from '../../../../src/service/workspace/workspace.ts';
import { createStudio, listenStudio } from '../../../../src/studio/index.ts';
import { APP_ID, aCampaign } from '../../../helpers/a-workspace.ts';
import { NO_LIMITS } from '../../../helpers/api-routes.ts';
import { OPERATORS } from '../../../helpers/running-studio.ts';
import { getThreadCpuMs, measureReferenceWork } from '../reference-speed.ts';
import { SIGNED_APP } from '../sync-tokens.ts';
import { nearPlacement, VISITORS, visitorId } from './client-keys.ts';
import { list } from './request.ts';
import { SHARED_EMAILS, SHARERS } from './server-keys.ts';

const USERS = 5_000;
const BIG_USERS = 100;
const LISTED_USERS = 100;
const CAMPAIGNS = 100;
const PLACEMENTS = 1_000;
const INTEGRATIONS = 500;
const IMPRESSIONS = 100_000;
/** Events of the largest user. */
const NAMES = 1_000;
const HISTORY = 50;
const VISITOR_EVENTS = 20_000;
const DAYS = 400;

tuneProcess();
const everywhere = list(100, (at) => `home_hero_${at + 1}`);
const content = {
  workspace_id: 'bench',
  apps: [
    { app_id: APP_ID, name: 'Web' },
    { ...SIGNED_APP, visitors: true },
  ],
  api_keys: [
    {
      type: 'server',
      key: 'bench-server',
      permissions: [...SERVER_PERMISSIONS],
    },
    { type: 'client', key: 'bench-client', permissions: [...CLIENT_PERMISSIONS] },
  ],
  campaigns_from: 'studio',
  studio: { sites: ['https://shop.example'], personas: [{ name: 'Gold', attributes: { first_name: 'Jo' } }] },
  placements: [
    ...list(PLACEMENTS, (at) => ({ placement_id: `home_hero_${at}` })),
    { placement_id: 'home' },
    { placement_id: 'capped' },
    { placement_id: 'effect' },
  ],
  campaigns: [
    ...list(CAMPAIGNS, (at) =>
      aCampaign({
        campaign_id: `c${at}`,
        placements: ['home', ...everywhere],
        audience:
          at === 0
            ? null
            : {
                $nor: [{ [`custom.a${at}`]: at }, { text: { $regex: 'x*y' } }],
                event_list: { $elemMatch: { name: `e${at}` } },
              },
      }),
    ),
    aCampaign({
      campaign_id: 'capped',
      placements: ['capped'],
      frequency: { impressions: { max: 1_000_000, days: 30 } },
    }),
    aCampaign({
      campaign_id: 'effect',
      placements: ['effect'],
      variants: [
        { variant_id: 'a', properties: {}, on_click: { event: 'clicked', attributes: { clicked: true } } },
      ],
    }),
    aCampaign({
      campaign_id: 'results',
      variants: list(8, (at) => ({ variant_id: `v${at}`, properties: {} })),
      conversions: list(4, (at) => ({ event: at % 2 === 0 ? 'seen' : 'done', within_hours: 720 })),
    }),
  ],
  segments: list(50, (at) => ({
    segment_id: `s-${at}`,
    name: `Segment ${at}`,
    audience: { $or: list(20, (n) => ({ [`custom.b${n}`]: at })) },
  })),
  operators: OPERATORS,
  integrations: list(INTEGRATIONS, (at) => ({
    integration_id: `i-${at}`,
    source: { kind: 'csv', files: 'none.csv', rows: 'attributes' },
    schedule: '17 4 31 1,3,5,7,8,10,12 *',
    time_zone: 'Europe/Berlin',
  })).map((each, at) =>
    at % 2 === 0 ? { ...each, schedule: '17 4 * * *' } : { ...each, schedule: '*/15 4-5 * * *' },
  ),
  limits: NO_LIMITS,
};
const near = {
  workspace_id: 'near',
  apps: [{ app_id: APP_ID, name: 'Web' }],
  api_keys: [{ type: 'client', key: 'near-client', permissions: ['banners.sync'] }],
  placements: list(1_000, (at) => ({ placement_id: nearPlacement(at) })),
  limits: NO_LIMITS,
};
const folder = mkdtempSync(join(tmpdir(), 'placard-worst-case-'));
const file = join(folder, 'placard.db');
const store = await openStore(file);
const registry = createRegistry(
  [content, near].map((each) => ({ workspace: parseWorkspace(each), source: each.workspace_id })),
);
const workspaces = await watchReleases({ registry: () => registry, stop: () => undefined }, store.studio, {
  log: silentLog,
});
const service = createService({ workspaces, store });
const api = await listen(service, { port: 0 });

/** A free port, chosen in advance because the Studio accepts only its own origin. */
const free = createServer().listen(0, '127.0.0.1');
await new Promise((resolve) => free.once('listening', resolve));
const { port: studioPort } = free.address() as { port: number };
await new Promise((resolve) => free.close(resolve));
const studioUrl = `http://127.0.0.1:${studioPort}`;
await listenStudio(createStudio({ workspaces, store, service, serviceUrl: null, pages: null }), {
  port: studioPort,
});

const post = async (path: string, key: string, body: unknown) => {
  const headers = { authorization: `Bearer bench-${key}`, 'content-type': 'application/json' };
  const response = await fetch(api.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  // biome-ignore lint/suspicious/noExplicitAny: a response body
  const answer = (await response.json()) as any;
  if (!response.ok || answer.errors)
    throw new Error(`${path}: ${response.status} ${JSON.stringify(answer).slice(0, 300)}`);
  return answer;
};
const nowMs = Date.now();
const iso = (ms: number) => new Date(ms).toISOString();

for (let from = 0; from < USERS; from += 500) {
  const ids = list(500, (at) => `u-${from + at}`);
  const attributes = ids.map((external_id, at) => ({
    external_id,
    first_name: 'Kim',
    a1: at,
    text: 'x'.repeat(at % 10 === 0 ? 255 : 10),
    tags: ['x', 'y'],
  }));
  const events = ids.map((external_id) => ({ external_id, name: 'seen', time: iso(nowMs) }));
  await post('/users/track/bulk', 'server', { attributes, events });
}

for (let from = 0; from < SHARERS; from += 1_000) {
  for (const [address, email] of SHARED_EMAILS.entries()) {
    const attributes = list(1_000, (at) => ({
      external_id: `sharer-${from + address * SHARERS + at}`,
      email,
    }));
    await post('/users/track/bulk', 'server', { attributes });
  }
}

/** Ten attributes of nearly the maximum size: 0.9 MB. */
for (let at = 0; at < BIG_USERS; at += 1) {
  const nested = list(10, (n) => [
    `nested${n}`,
    list(4, (m) => ({ k: m, texts: list(90, () => 'x'.repeat(250)) })),
  ]);
  await post('/users/track', 'server', {
    attributes: [{ external_id: `big-${at}`, text: 'x'.repeat(255), ...Object.fromEntries(nested) }],
  });
}
for (let from = 0; from < LISTED_USERS; from += 2) {
  const attributes = list(2, (at) => ({
    external_id: `listed-${from + at}`,
    list: list(6_000, () => ({ a: 1, b: 0 })),
  }));
  await post('/users/track', 'server', { attributes });
}
for (let from = 0; from < NAMES; from += 75) {
  const events = list(75, (at) => ({
    external_id: 'big-0',
    name: `event ${from + at}`.padEnd(250, 'e'),
    time: iso(nowMs),
  }));
  await post('/users/track', 'server', { events });
}

const syncedFor = async (external_user_id: string, placement: string, app_id = APP_ID) => {
  const body = { external_user_id, app_id, app_version: '1', placements: [placement] };
  const { banners } = await post('/v1/device-messaging/banners/sync', 'client', body);
  return banners[placement]?.id as string;
};
const look = async (external_user_id: string, id: string, count: number, atOnce: number, app_id = APP_ID) => {
  for (let from = 0; from < count; from += atOnce) {
    const events = list(atOnce, (at) => ({
      id,
      event_type: 'impression',
      timestamp: iso(nowMs - 20 * DAY_MS + (from + at) * 1_000),
    }));
    await post('/v1/device-messaging/banners/track', 'client', {
      external_user_id,
      app_id,
      app_version: '1',
      events,
    });
  }
};
await look('looker', await syncedFor('looker', 'capped'), IMPRESSIONS, 1_000);
for (let n = 0; n < VISITORS; n += 1) {
  const visitor = visitorId(n);
  await look(
    visitor,
    await syncedFor(visitor, 'capped', SIGNED_APP.app_id),
    VISITOR_EVENTS,
    50,
    SIGNED_APP.app_id,
  );
}

const draft = (campaignId: string, members: object) =>
  store.studio.saveDraft(
    {
      workspaceId: 'bench',
      campaignId,
      campaign: aCampaign({ campaign_id: campaignId, ...members }),
      revision: 'r',
      basedOn: 0,
      editor: 'Ed',
      updatedAtMs: nowMs,
    },
    null,
  );
const random = (bytes: number) => randomBytes(bytes / 2).toString('hex');
for (let n = 0; n < 24; n += 1) await draft(`draft-${n}`, { name: random(60_000) });
for (let n = 0; n < 16; n += 1) {
  await draft(`deleted-${n}`, {});
  await draft(`published-${n}`, {});
}
const placements = list(PLACEMENTS, (at) => `home_hero_${at}`);
const properties = { headline: { type: 'string', value: 'Hello' } };
await draft('placements', { placements, variants: [{ variant_id: 'a', properties }] });
await draft('texts', {
  variants: list(8, (at) => ({
    variant_id: at === 0 ? 'a' : `v${at}`,
    properties: Object.fromEntries(
      list(20, (name) => [
        `p${name}`,
        { type: 'string', value: '{{ "a" | append: "b" | upcase }} '.repeat(2) },
      ]),
    ),
  })),
});
const tokens = createPreviewTokens(store);
const getToken = (campaignId: string) =>
  tokens.sign('bench', { campaignId, revision: 'r', variantId: 'a', personaId: null, language: null }, nowMs);

for (let n = 0; n < HISTORY; n += 1) {
  const campaign = aCampaign({
    campaign_id: 'history',
    test_users: list(8_000, (at) => String(at + 10_000)),
  });
  await store.studio.addRelease({
    workspaceId: 'bench',
    kind: 'campaign',
    subjectId: 'history',
    content: campaign,
    basedOn: n,
    author: 'Pia',
    note: 'x'.repeat(2_000),
    createdAtMs: nowMs,
    liveAtMs: nowMs,
  });
}

/** Inserts years of results, ingestion runs and audit entries directly. */
const database = new DatabaseSync(file);
const insert = (table: string, rows: object[]) => {
  const [first] = rows;
  const names = Object.keys(first!);
  const statement = database.prepare(
    `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
  );
  database.exec('BEGIN IMMEDIATE');
  for (const row of rows) statement.run(...Object.values(row));
  database.exec('COMMIT');
};
const counts = {
  impressions: 9_000,
  clicks: 300,
  dismissals: 100,
  exposed_users: 8_000,
  clicked_users: 250,
  dismissed_users: 90,
};
for (const campaign of ['results', ...list(CAMPAIGNS, (at) => `c${at}`)]) {
  const dimensions = [
    '',
    ...list(campaign === 'results' ? DAYS : 40, (at) => `day:${iso(nowMs - at * DAY_MS).slice(0, 10)}`),
    'placement:home',
  ];
  insert(
    'campaign_counts',
    dimensions.flatMap((dimension) =>
      list(8, (at) => ({
        workspace_id: 'bench',
        campaign_id: campaign,
        variant_id: `v${at}`,
        dimension,
        ...counts,
      })),
    ),
  );
}
insert(
  'operator_audit',
  list(20_000, (at) => ({
    workspace_id: 'bench',
    at_ms: nowMs - at,
    entry_id: String(at),
    operator: 'Vera',
    action: 'campaign.publish',
    subject: 'c1',
    details: '',
  })),
);
insert(
  'ingestion_runs',
  list(35_000, (at) => ({
    workspace_id: 'bench',
    integration_id: 'i-0',
    run_id: iso(nowMs - at * 900_000),
    trigger: 'schedule',
    status: 'success',
    started_at_ms: nowMs - at * 900_000,
    finished_at_ms: nowMs - at * 900_000 + 1,
    rows_synced: 1,
    rows_failed: 1,
  })),
);
insert(
  'ingestion_rejects',
  list(20_000, (at) => ({
    workspace_id: 'bench',
    integration_id: `i-${at % 100 === 0 ? 0 : at % INTEGRATIONS}`,
    reject_id: `key:${at}`,
    kind: 'invalid',
    key: String(at),
    reason: 'not valid',
    payload: JSON.stringify({ PAYLOAD: 'x'.repeat(at % 100 === 0 ? 100_000 : 100) }),
    stored_rows: '[]',
    run_id: 'r',
    rejected_at_ms: nowMs,
  })),
);
database.close();

const getCookie = async (name: string) => {
  const signedIn = await fetch(`${studioUrl}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: studioUrl, 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ key: `${name}-key` }),
  });
  return (signedIn.headers.get('set-cookie') ?? '').split(';')[0];
};

process.on('message', (question) =>
  process.send?.(question === 'reference' ? measureReferenceWork() : getThreadCpuMs()),
);
process.send?.({
  api: api.port,
  studio: studioPort,
  cookies: {
    view: await getCookie('Vera'),
    edit: await getCookie('Ed'),
    publish: await getCookie('Pia'),
    admin: await getCookie('Ada'),
  },
  known: {
    bannerId: await syncedFor('u-1', 'home'),
    effectBannerId: await syncedFor('clicker', 'effect'),
    previewTokens: { placements: await getToken('placements'), texts: await getToken('texts') },
  },
});
process.once('disconnect', () => {
  rmSync(folder, { recursive: true, force: true });
  process.exit();
});
