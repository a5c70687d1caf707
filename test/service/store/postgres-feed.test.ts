import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { LOCKS } from '../../../src/service/sql/advisory-locks.ts';
import { openStore } from '../../../src/service/store/index.ts';
import { aBannerEvent, recordBannerEvents } from '../../helpers/banner-events.ts';
import { aDatabase } from '../../helpers/postgres.ts';
import { anEvent, byExternalId, NOW } from './examples.ts';
import { readAll } from './feed-contract.ts';

test('includes rows of a transaction that was open while others committed, and does not block the others', async () => {
  const url = await aDatabase();
  const store = await openStore(url);
  const replica = await openStore(url);
  const open = new Client({ connectionString: url });
  await open.connect();
  onTestFinished(async () => {
    await open.end();
    await store.close();
    await replica.close();
  });
  const act = (name: string, on = store) =>
    on.write({
      workspaceId: 'demo',
      lookups: [byExternalId('kim')],
      nowMs: NOW,
      apply(users) {
        const kim = users.find(byExternalId('kim'))[0] ?? users.create({ externalId: 'kim' }, NOW);
        users.record(kim, anEvent(kim, name));
        users.recordBannerEvents('kim', [aBannerEvent({ bannerId: `bnr_${name}` })], NOW, true);
      },
    });
  const getNames = async (after?: Parameters<typeof readAll>[1]) =>
    (await readAll(store, after)).events.map((event) => event.kind === 'event' && event.name);
  await act('first');
  const read = await readAll(store);

  // Like a replica that stalls in the middle of a group.
  await open.query('BEGIN');
  await open.query(`SELECT pg_advisory_xact_lock_shared(${LOCKS.groups})`);
  await open.query(`INSERT INTO events (workspace_id, user_id, name, occurred_at, received_at)
    SELECT workspace_id, user_id, 'open', occurred_at, received_at FROM events`);
  await open.query(`INSERT INTO banner_events (user_id, banner_id, event_type, occurred_at, workspace_id, campaign_id, variant_id,
      placement_id, day, app_id, is_control, is_test_send, is_first_of_type, received_at)
    SELECT user_id, 'bnr_open', event_type, occurred_at, workspace_id, campaign_id, variant_id, placement_id, day, app_id,
      is_control, is_test_send, false, received_at FROM banner_events`);
  await act('second');
  await act('third', replica);
  expect(await getNames(read.next)).toEqual([]);
  const question = { campaignId: 'campaign', goals: [], timeZone: 'UTC' };
  expect((await store.campaignResults('demo', question)).arms).toMatchObject([{ impressions: 1 }]);
  // Like a replica that starts now.
  const later = await openStore(url);
  for (const each of [store, later])
    expect(await each.catchUpResults()).toEqual({ asOfMs: NOW, isCaughtUp: false });
  await later.close();

  await open.query('COMMIT');
  expect(await getNames(read.next)).toEqual(['open', 'second', 'third']);
  expect((await store.campaignResults('demo', question)).arms).toMatchObject([
    { impressions: 4, exposed: 1 },
  ]);
  expect(await store.verifyResults('demo')).toEqual([]);
  const before = Date.now();
  const { asOfMs, isCaughtUp } = await store.catchUpResults();
  expect(isCaughtUp).toBe(true);
  expect(asOfMs).toBeGreaterThanOrEqual(before);
});

test('counts every event once if two replicas read results at once', async () => {
  const url = await aDatabase();
  const stores = [await openStore(url), await openStore(url)];
  onTestFinished(async () => {
    for (const store of stores) await store.close();
  });
  const question = { campaignId: 'campaign', goals: [], timeZone: 'UTC' };
  for (let round = 1; round <= 5; round += 1) {
    await Promise.all(
      stores.map((store, at) =>
        recordBannerEvents(
          store,
          `u-${at}`,
          Array.from({ length: 200 }, (_, each) => aBannerEvent({ timeMs: NOW + 1_000 * round + each })),
        ),
      ),
    );
    const seen = await Promise.all(stores.map((store) => store.campaignResults('demo', question)));
    for (const { arms } of seen) expect(arms).toMatchObject([{ exposed: 2, impressions: 400 * round }]);
  }
});
