import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore, vacuumStore } from '../../../src/service/store/index.ts';
import { aBannerEvent, recordBannerEvents } from '../../helpers/banner-events.ts';
import { type CitusCluster, installedCitus, startCitus } from '../../helpers/citus.ts';
import { needs } from '../../helpers/machine.ts';
import { startServiceProcess } from '../../helpers/service-process.ts';
import { studioContract } from '../operators/contract.ts';
import { anApi, NOW } from '../users/on-both-stores.ts';
import { storeContract } from './contract.ts';
import { askAll } from './example-queries.ts';
import { collect } from './examples.ts';
import { expectExactlyWhatWasSent, nothingSent, writeOn } from './writers.ts';

const bin = installedCitus();

const CITUS = needs(
  "apt-get install postgresql-17-citus-13.2, from Citus' own source of packages",
  bin !== null,
);

describe('a sharded PostgreSQL database', CITUS, () => {
  let cluster: CitusCluster;
  beforeAll(async () => {
    cluster = await startCitus(bin!);
  });
  afterAll(() => cluster?.stop());

  const tables = async () => {
    const rows = await cluster.run(
      "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'placard_schema'",
    );
    return rows.map((row) => row['tablename'] as string);
  };
  /** Empties the tables instead of creating them, because distributing new tables takes a second each time. */
  const anEmptyDatabase = async () => {
    const names = await tables();
    if (names.length > 0) await cluster.run(`TRUNCATE ${names.join(', ')}`);
    return cluster.url;
  };

  storeContract('Citus', anEmptyDatabase, { reopens: true });
  studioContract('Citus', async () => openStore(await anEmptyDatabase()));

  test('distributes the tables of users over both workers, and keeps small tables local', async () => {
    const store = await openStore(await anEmptyDatabase());
    expect(store.kind).toBe('citus');
    await store.close();
    const rows = await cluster.run(
      'SELECT table_name::text, count(DISTINCT nodeport) AS nodes FROM citus_shards GROUP BY 1 ORDER BY 1',
    );
    expect(rows).toEqual(
      ['banner_events', 'events', 'user_campaigns', 'user_identifiers', 'user_results', 'users'].map(
        (table_name) => ({
          table_name,
          nodes: '2',
        }),
      ),
    );
  });

  test('applies caps, samples users, erases and prunes', async () => {
    const store = await openStore(await anEmptyDatabase());
    const api = anApi(store, { workspace_id: 'shop' });
    const users = ['kim', 'jo', 'ada'];
    const time = new Date(NOW).toISOString();
    await api.track({
      attributes: users.map((external_id) => ({ external_id, email: `${external_id}@example.org` })),
      events: users.map((external_id) => ({ external_id, name: 'viewed', time })),
    });
    for (const user of users) await recordBannerEvents(store, user, [aBannerEvent({ timeMs: NOW })], 'shop');
    expect((await store.loadTargetingData('shop', 'kim', NOW)).impressions).toEqual([
      { campaignId: 'campaign', timeMs: NOW },
    ]);
    expect((await store.loadTargetingData('shop', 'kim', NOW + 1)).impressions).toEqual([]);
    const { total, users: sample } = await store.sampleUsers({
      workspaceId: 'shop',
      size: 10,
      campaignIds: ['campaign'],
    });
    expect([total, sample.map(({ externalId }) => externalId).sort()]).toEqual([3, ['ada', 'jo', 'kim']]);
    expect(await api.post('/users/delete', { external_ids: ['kim'] })).toMatchObject({
      body: { deleted: 1 },
    });
    const old = { events: NOW + 1, bannerEvents: NOW + 1 };
    expect(await store.prune('shop', old)).toMatchObject({ events: 2, bannerEvents: 2 });
    await vacuumStore(cluster.url);
    const left = await collect(store.exportUsers('shop'));
    expect(left.map(({ externalId }) => externalId).sort()).toEqual(['ada', 'jo']);
    await store.close();
  });

  test('the queries of docs/guides/sql-queries.md return the expected rows', async () => {
    await askAll('PostgreSQL', await anEmptyDatabase(), cluster.run);
  });

  test('stores acknowledged writes exactly once if a worker and the coordinator are killed under load', async () => {
    const sent = nothingSent();
    const database = await anEmptyDatabase();
    const services = [await startServiceProcess(database), await startServiceProcess(database)];
    let turn = 0;
    let isOver = false;
    const writers = Array.from({ length: 8 }, (_, writer) =>
      writeOn({
        // Each user's requests alternate between the replicas.
        url: () => `http://127.0.0.1:${services[(turn++ + writer) % 2]!.port}`,
        writer,
        sent,
        isOver: () => isOver,
        goesOn: true,
      }),
    );
    const more = async (set: Set<string>, count: number) => {
      const enough = set.size + count;
      while (set.size < enough) await new Promise((resolve) => setTimeout(resolve, 10));
    };
    await more(sent.acknowledged, 200);
    for (const node of [1, 0]) {
      await cluster.kill(node);
      // Each writer gets a response while the node is down, so none waits forever.
      await more(sent.inDoubt, 16);
      await cluster.start(node);
      await more(sent.acknowledged, 200);
    }
    isOver = true;
    await Promise.all(writers);
    expect(await Promise.all(services.map(({ stop }) => stop()))).toEqual([0, 0]);
    await cluster.run('SELECT recover_prepared_transactions()');
    const stored = await expectExactlyWhatWasSent(cluster.url, sent);
    expect(stored).toBeGreaterThanOrEqual(sent.acknowledged.size);
    console.log(
      `2 nodes killed: ${sent.acknowledged.size} acknowledged, ${sent.inDoubt.size} in doubt, ${stored} stored, 0 lost, 0 doubled`,
    );
  });
});
