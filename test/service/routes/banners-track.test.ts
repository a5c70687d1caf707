import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ERROR_MESSAGES, EVENT_TYPES } from '../../../src/protocol/index.ts';
import { openStore, type Store } from '../../../src/service/index.ts';
import { APP_ID, aCampaign, aWorkspace, CLIENT_KEY, SERVER_KEY } from '../../helpers/a-workspace.ts';
import { keptOpen, type RunningService, runService, STORES } from '../../helpers/running-service.ts';

describe.each(STORES)('on $name', ({ address }) => {
  let shared: Store;
  let store: Store;
  let workspaceId = '';
  let service: RunningService | undefined;
  beforeAll(async () => {
    shared = await openStore(await address());
    store = keptOpen(shared);
  });
  afterAll(() => shared.close());
  // One workspace per test, so that tests stay independent.
  beforeEach(({ task }) => {
    workspaceId = `test-${task.id}`;
  });
  afterEach(async () => {
    await service?.stop();
    service = undefined;
  });

  const run = async (campaigns: unknown[] = [aCampaign()], members: Record<string, unknown> = {}) => {
    service = await runService([aWorkspace({ workspace_id: workspaceId, campaigns, ...members })], { store });
    return service;
  };

  const envelope = { external_user_id: 'u-771', app_id: APP_ID, app_version: '4.2.0' };
  const sync = async (user = 'u-771') => {
    const { body } = await service!.call('POST', '/v1/device-messaging/banners/sync', {
      key: CLIENT_KEY,
      body: { ...envelope, external_user_id: user, placements: ['home'] },
    });
    return body.banners.home;
  };
  const track = (members: Record<string, unknown>) =>
    service!.call('POST', '/v1/device-messaging/banners/track', {
      key: CLIENT_KEY,
      body: { ...envelope, ...members },
    });
  const stored = async () => {
    const rows = [];
    for await (const row of service!.store.exportBannerEvents(workspaceId)) rows.push(row);
    return rows;
  };
  const timestamp = '2026-03-01T08:20:01.250Z';

  describe('contract 2.6: banners/track', () => {
    test('accepts events of every type, and stores them with the data of their banner IDs', async () => {
      await run();
      const { id } = await sync();
      const { status, body } = await track({
        events: EVENT_TYPES.map((event_type) => ({ id, event_type, timestamp })),
      });
      expect({ status, body }).toEqual({
        status: 202,
        body: { events_processed: EVENT_TYPES.length, message: 'success' },
      });
      const rows = await stored();
      expect(rows.map(({ eventType }) => eventType).sort()).toEqual(EVENT_TYPES.toSorted());
      expect(rows[0]).toMatchObject({
        externalId: 'u-771',
        appId: APP_ID,
        bannerId: id,
        campaignId: 'c1',
        variantId: 'a',
        placementId: 'home',
        isControl: false,
        isTestSend: false,
        timeMs: Date.parse(timestamp),
        receivedAtMs: Date.parse('2026-03-01T09:00:00Z'),
      });
    });

    test('stores the button of a click, and skips an event whose button_id is invalid', async () => {
      await run();
      const { id } = await sync();
      const click = { id, event_type: 'click', timestamp };
      const wrong = ['', 'x'.repeat(256), 5, null, 'a\0'].map((button_id) => ({ ...click, button_id }));
      const { status, body } = await track({ events: [{ ...click, button_id: 'details' }, ...wrong] });
      expect(status).toBe(202);
      expect(body.errors).toEqual(
        wrong.map((_, index) => ({ type: "Invalid 'button_id'", index: index + 1 })),
      );
      expect((await stored()).map(({ buttonId }) => buttonId)).toEqual(['details']);
    });

    test('reports the index and first error of each invalid event, and accepts the others', async () => {
      await run();
      const { id } = await sync();
      const good = { id, event_type: 'click', timestamp };
      const events = [
        good,
        { ...good, id: undefined },
        { ...good, id: 5 },
        { ...good, id: 'bnr_forged' },
        { ...good, id: id.slice(0, -2) + (id.endsWith('xx') ? 'yy' : 'xx') },
        { ...good, event_type: null },
        { ...good, event_type: 'swipe' },
        { ...good, timestamp: '' },
        { ...good, timestamp: 'yesterday' },
        { ...good, timestamp: '2026-02-30T00:00:00Z' },
        { ...good, timestamp: '2026-03-01T09:20:01' },
        { ...good, timestamp: 1772356801250 },
        'click',
        null,
        [good],
        { event_type: 'swipe' },
        { ...good, timestamp: '2026-03-01T10:20:01.251+02:00' },
      ];
      const { status, body } = await track({ events });
      expect(status).toBe(202);
      expect(body.events_processed).toBe(2);
      expect(body.errors).toEqual([
        { type: "'id' is required", index: 1 },
        { type: "Invalid 'id'", index: 2 },
        { type: "Invalid 'id'", index: 3 },
        { type: "Invalid 'id'", index: 4 },
        { type: "'event_type' is required", index: 5 },
        { type: 'Invalid event_type. Valid types are: impression, click, dismiss.', index: 6 },
        { type: "'timestamp' is required", index: 7 },
        { type: 'Invalid timestamp', index: 8 },
        { type: 'Invalid timestamp', index: 9 },
        { type: 'Invalid timestamp', index: 10 },
        { type: 'Invalid timestamp', index: 11 },
        { type: 'Event must be an object', index: 12 },
        { type: 'Event must be an object', index: 13 },
        { type: 'Event must be an object', index: 14 },
        { type: "'id' is required", index: 15 },
      ]);
      expect(body.events_processed + body.errors.length).toBe(events.length);
      expect(await stored()).toHaveLength(2);
    });

    test('returns 400 with every error if no event is valid', async () => {
      await run();
      const { status, body } = await track({ events: [{ id: 'bnr_1', event_type: 'swipe' }, 5] });
      expect({ status, body }).toEqual({
        status: 400,
        body: {
          message: 'No valid events provided.',
          errors: [
            { type: 'Invalid event_type. Valid types are: impression, click, dismiss.', index: 0 },
            { type: 'Event must be an object', index: 1 },
          ],
        },
      });
    });

    test('returns 400 without errors for an empty list', async () => {
      await run();
      const { status, body } = await track({ events: [] });
      expect({ status, body }).toEqual({ status: 400, body: { message: 'No valid events provided.' } });
    });

    test.each([
      ['events', undefined, "'events' is required"],
      ['events', {}, "'events' is not valid"],
      ['external_user_id', undefined, "'external_user_id' is required"],
      ['external_user_id', 'x'.repeat(987), "'external_user_id' is not valid"],
      ['app_id', 'another', ERROR_MESSAGES.unknownApp],
      ['app_version', null, "'app_version' is required"],
    ])('returns 400 without errors if %s is %j', async (name, value, message) => {
      await run();
      const { id } = await sync();
      const { status, body } = await track({
        events: [{ id, event_type: 'click', timestamp }],
        [name]: value,
      });
      expect({ status, body }).toEqual({ status: 400, body: { message } });
      expect(await stored()).toEqual([]);
    });

    test('returns 400 without errors for more events than a request may have', async () => {
      await run();
      const { id } = await sync();
      const { status, body } = await track({
        events: [{ id, event_type: 'click', timestamp }, ...Array.from({ length: 1_000 }, () => 0)],
      });
      const message = "'events' must hold no more than 1000 events";
      expect({ status, body }).toEqual({ status: 400, body: { message } });
      expect(await stored()).toEqual([]);
      const most = await track({ events: Array.from({ length: 1_000 }, () => 0) });
      expect(most.body.errors).toHaveLength(1_000);
    });

    test('accepts a thousand events in one request', async () => {
      await run();
      const { id } = await sync();
      const start = Date.parse(timestamp);
      const events = Array.from({ length: 1_000 }, (_, index) => ({
        id,
        event_type: 'impression',
        timestamp: new Date(start + index).toISOString(),
      }));
      expect((await track({ events })).body.events_processed).toBe(1_000);
      expect(await stored()).toHaveLength(1_000);
    });
  });

  describe('row 7: repeated events', () => {
    test('with the same natural key are counted and stored once, even if their time is written differently', async () => {
      await run();
      const { id } = await sync();
      const events = [
        { id, event_type: 'click', timestamp: '2026-03-01T08:20:01.250Z' },
        { id, event_type: 'click', timestamp: '2026-03-01T09:20:01.25+01:00' },
      ];
      expect((await track({ events })).body).toEqual({ events_processed: 2, message: 'success' });
      expect((await track({ events })).body).toEqual({ events_processed: 2, message: 'success' });
      expect(await stored()).toHaveLength(1);
      await track({ events: [{ ...events[0], event_type: 'impression' }] });
      const { id: theirs } = await sync('u-772');
      await track({ events: [{ ...events[0], id: theirs }], external_user_id: 'u-772' });
      expect(await stored()).toHaveLength(3);
    });

    test('are also deduplicated if their time is in the future', async () => {
      await run();
      const { id } = await sync();
      const events = [{ id, event_type: 'click', timestamp: '2036-03-01T08:20:01Z' }];
      await track({ events });
      service!.clock.now += 1_000;
      await track({ events });
      expect((await stored()).map(({ timeMs }) => timeMs)).toEqual([Date.UTC(2036, 2, 1, 8, 20, 1)]);
    });
  });

  describe('the user of an event', () => {
    test('row 29: may have no profile, and does not get one', async () => {
      await run();
      const { id } = await sync('never-seen');
      await track({ external_user_id: 'never-seen', events: [{ id, event_type: 'dismiss', timestamp }] });
      expect(await sync('never-seen')).toBeNull();
      const users: unknown[] = [];
      for await (const user of service!.store.exportUsers(workspaceId)) users.push(user);
      expect(users).toEqual([]);
    });

    test('may be unknown, but is not created for a client key', async () => {
      await run();
      const { id } = await sync();
      const event = { id, event_type: 'click', timestamp };
      const made = await track({ external_user_id: 'made-up', events: [event, 5] });
      expect(made).toMatchObject({
        status: 400,
        body: { errors: [{ type: "Invalid 'id'", index: 0 }, { index: 1 }] },
      });
      expect(await stored()).toEqual([]);
      // A user named by a server is known, and their events count for any banner.
      await service!.call('POST', '/users/track', {
        key: SERVER_KEY,
        body: { attributes: [{ external_id: 'named', n: 1 }] },
      });
      expect((await track({ external_user_id: 'named', events: [event] })).status).toBe(202);
      // The same applies to a user with earlier banner events.
      const { id: theirs } = await sync('synced');
      expect((await track({ external_user_id: 'synced', events: [{ ...event, id: theirs }] })).status).toBe(
        202,
      );
      expect((await track({ external_user_id: 'synced', events: [event] })).status).toBe(202);
      const users = (await stored()).map(({ externalId }) => externalId);
      expect(users.sort()).toEqual(['named', 'synced', 'synced']);
    });

    test('is created within the limit per minute of the workspace', async () => {
      await run([aCampaign()], { limits: { new_users: { requests: 2, window_seconds: 60 } } });
      const first = async (user: string) => {
        const { id } = await sync(user);
        return track({ external_user_id: user, events: [{ id, event_type: 'click', timestamp }] });
      };
      expect((await first('one')).status).toBe(202);
      expect((await first('two')).status).toBe(202);
      const refused = await first('three');
      expect(refused.status).toBe(429);
      expect((await first('one')).status).toBe(202);
      service!.clock.now += 60_000;
      expect((await first('three')).status).toBe(202);
    });

    test('stores late events of a stopped or removed campaign', async () => {
      await run();
      const { id } = await sync();
      await service?.stop();
      await run([]);
      expect((await track({ events: [{ id, event_type: 'click', timestamp }] })).status).toBe(202);
      expect((await stored())[0]).toMatchObject({ campaignId: 'c1', variantId: 'a', placementId: 'home' });
    });

    test('rejects a banner ID of another workspace', async () => {
      const other = aWorkspace({
        workspace_id: `${workspaceId}-other`,
        campaigns: [aCampaign()],
        api_keys: [{ type: 'client', key: 'other-key', permissions: ['banners.track'] }],
      });
      service = await runService(
        [aWorkspace({ workspace_id: workspaceId, campaigns: [aCampaign()] }), other],
        { store },
      );
      const { id } = await sync();
      const { status, body } = await service.call('POST', '/v1/device-messaging/banners/track', {
        key: 'other-key',
        body: { ...envelope, events: [{ id, event_type: 'click', timestamp }] },
      });
      expect({ status, errors: body.errors }).toEqual({
        status: 400,
        errors: [{ type: "Invalid 'id'", index: 0 }],
      });
    });

    test('row 31: accepts events of test sends, and excludes them from the export', async () => {
      await run([aCampaign({ status: 'draft', test_users: ['tester'] })]);
      const { id } = await sync('tester');
      const { status } = await track({
        external_user_id: 'tester',
        events: [{ id, event_type: 'impression', timestamp }],
      });
      expect(status).toBe(202);
      expect(await stored()).toEqual([]);
    });

    test('stores an impression of a control banner as a control impression', async () => {
      await run([aCampaign({ control_percentage: 100 })]);
      const { id } = await sync();
      await track({ events: [{ id, event_type: 'impression', timestamp }] });
      expect((await stored())[0]).toMatchObject({ isControl: true, variantId: null });
    });
  });
});
