// The service and the Studio with what their costliest requests need: users, campaigns, drafts. Tells its parent the
// ports, and when it is asked how much CPU time its main thread has used, in milliseconds.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { threadCpuUsage } from 'node:process';
import { createService, listen, openStore, silentLog, tuneProcess } from '../../../src/service/index.ts';
import { followReleases } from '../../../src/service/workspace/follow-releases.ts';
import { parseWorkspace } from '../../../src/service/workspace/parse-workspace.ts';
import { createRegistry } from '../../../src/service/workspace/workspace.ts';
import { createStudio, listenStudio } from '../../../src/studio/index.ts';
import { APP_ID, aCampaign } from '../../helpers/a-workspace.ts';
import { OPERATORS } from '../../helpers/running-studio.ts';

const USERS = 5_000;
const CAMPAIGNS = 100;
const NO_LIMIT = { requests: 1_000_000, window_seconds: 60 };

tuneProcess();
const content = {
  workspace_id: 'bench',
  apps: [{ app_id: APP_ID, name: 'Web' }],
  api_keys: [
    {
      type: 'server',
      key: 'bench-server',
      permissions: [
        'users.track',
        'users.track.bulk',
        'users.identify',
        'users.merge',
        'users.export.ids',
        'users.delete',
        'campaigns.explain',
      ],
    },
    { type: 'client', key: 'bench-client', permissions: ['banners.sync', 'banners.track'] },
  ],
  studio: { personas: [{ name: 'Gold', attributes: { first_name: 'Jo' } }] },
  placements: Array.from({ length: 1_000 }, (_, at) => ({
    placement_id: at === 0 ? 'home' : `home_hero_${at}`,
  })),
  campaigns: Array.from({ length: CAMPAIGNS }, (_, at) =>
    aCampaign({ campaign_id: `c${at}`, audience: at === 0 ? null : { [`custom.a${at}`]: at } }),
  ),
  operators: OPERATORS,
  limits: {
    users_track: NO_LIMIT,
    users_track_bulk: NO_LIMIT,
    users_other: NO_LIMIT,
    users_export_ids: NO_LIMIT,
    banners_sync: { per_user: NO_LIMIT },
    banners_track: { per_user: NO_LIMIT },
  },
};
const store = await openStore(':memory:');
const registry = createRegistry([{ workspace: parseWorkspace(content), source: 'bench' }]);
const workspaces = await followReleases({ registry: () => registry, stop: () => undefined }, store.studio, {
  log: silentLog,
});
const service = createService({ workspaces, store });
const api = await listen(service, { port: 0 });

/** A port that was free a moment ago: the Studio takes requests that name its own address alone. */
const free = createServer().listen(0, '127.0.0.1');
await new Promise((resolve) => free.once('listening', resolve));
const { port: studioPort } = free.address() as { port: number };
await new Promise((resolve) => free.close(resolve));
const studioUrl = `http://127.0.0.1:${studioPort}`;
await listenStudio(createStudio({ workspaces, store, pages: null }), { port: studioPort });

const post = async (path: string, key: string, body: unknown) => {
  const headers = { authorization: `Bearer bench-${key}`, 'content-type': 'application/json' };
  const response = await fetch(api.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  // biome-ignore lint/suspicious/noExplicitAny: what an endpoint answers
  return (await response.json()) as any;
};
const time = new Date().toISOString();
for (let from = 0; from < USERS; from += 500) {
  const ids = Array.from({ length: 500 }, (_, at) => `u-${from + at}`);
  const attributes = ids.map((external_id, at) => ({
    external_id,
    first_name: 'Kim',
    a1: at,
    tags: ['x', 'y'],
  }));
  const events = ids.map((external_id) => ({ external_id, name: 'seen', time }));
  await post('/users/track/bulk', 'server', { attributes, events });
}
const synced = await post('/v1/device-messaging/banners/sync', 'client', {
  external_user_id: 'u-1',
  app_id: APP_ID,
  app_version: '1',
  placements: ['home'],
});
for (let at = 0; at < 33; at += 1) {
  const campaign = aCampaign({ campaign_id: `draft-${at}`, name: randomBytes(30_000).toString('hex') });
  const revision = `r${at}`;
  await store.studio.saveDraft(
    {
      workspaceId: 'bench',
      campaignId: `draft-${at}`,
      campaign,
      revision,
      basedOn: 0,
      editor: 'Ed',
      updatedAtMs: 0,
    },
    null,
  );
}
const signedIn = await fetch(`${studioUrl}/api/session`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', origin: studioUrl, 'sec-fetch-site': 'same-origin' },
  body: JSON.stringify({ key: 'Vera-key' }),
});
const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0];

process.on('message', () => {
  const { user, system } = threadCpuUsage();
  process.send?.((user + system) / 1_000);
});
process.send?.({ api: api.port, studio: studioPort, cookie, bannerId: synced.banners.home.id });
process.once('disconnect', () => process.exit());
