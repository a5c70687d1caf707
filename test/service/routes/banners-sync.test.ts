// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ERROR_MESSAGES } from '../../../src/protocol/index.ts';
import { syncResponse } from '../../../src/protocol/schemas/index.ts';
import { stripUserTag } from '../../../src/service/campaigns/banner-id.ts';
import { openStore, type Store } from '../../../src/service/index.ts';
import {
  APP_ID,
  aCampaign,
  aVariant,
  aWorkspace,
  CLIENT_KEY,
  SERVER_KEY,
} from '../../helpers/a-workspace.ts';
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

  const asked = { external_user_id: 'u-771', app_id: APP_ID, app_version: '4.2.0', placements: ['home'] };

  const run = async (...campaigns: Record<string, unknown>[]) => {
    service = await runService(
      [
        aWorkspace({
          workspace_id: workspaceId,
          campaigns,
          limits: { banners_sync: { per_user: { requests: 100_000, window_seconds: 60 } } },
        }),
      ],
      { store },
    );
    return service;
  };
  const sync = (members: Record<string, unknown> = {}) =>
    service!.call('POST', '/v1/device-messaging/banners/sync', {
      key: CLIENT_KEY,
      body: { ...asked, ...members },
    });
  const banner = async (members: Record<string, unknown> = {}) => (await sync(members)).body.banners.home;
  const track = (body: unknown) => service!.call('POST', '/users/track', { key: SERVER_KEY, body });
  const tell = (id: string, event_type: string, timestamp: string, user = 'u-771') =>
    service!.call('POST', '/v1/device-messaging/banners/track', {
      key: CLIENT_KEY,
      body: {
        external_user_id: user,
        app_id: APP_ID,
        app_version: '1',
        events: [{ id, event_type, timestamp }],
      },
    });

  describe('contract 2.5: banners/sync', () => {
    test('returns one banner or null for each requested placement', async () => {
      await run(aCampaign());
      const { status, body } = await sync({ placements: ['home', 'other'] });
      expect(status).toBe(200);
      expect(syncResponse.safeParse(body).success).toBe(true);
      expect(body).toEqual({
        banners: {
          home: {
            id: expect.stringMatching(/^bnr_[\w-]{20,}$/),
            placement_id: 'home',
            is_control: false,
            is_test_send: false,
            expires_at: -1,
            properties: { headline: { type: 'string', value: 'Hello' } },
          },
          other: null,
        },
      });
    });

    test('returns no banners if the release is still current', async () => {
      const file = { workspace_id: workspaceId, campaigns: [aCampaign()], banner_poll_seconds: 5 };
      service = await runService([aWorkspace(file)], { store });
      const { release, ...first } = (await sync()).body;
      expect(first).toEqual({ banners: { home: expect.anything() }, poll_seconds: 5 });
      const unchanged = await sync({ release });
      expect(unchanged.body).toEqual({ banners: {}, release, poll_seconds: 5 });
      expect(unchanged.headers.get('x-ratelimit-remaining')).toBe('58');
      const id = first.banners.home.id;
      expect((await sync({ release: 'another', shown: [id] })).body).toEqual({ ...first, release });
      await service.stop();
      service = await runService([aWorkspace({ ...file, campaigns: [aCampaign({ status: 'stopped' })] })], {
        store,
      });
      const shown = [first.banners.home.id, 'bnr_unknown'];
      expect((await sync({ release, shown })).body).toMatchObject({
        banners: { home: null },
        stopped: [first.banners.home.id],
      });
    });

    test('ignores the release if the workspace has no poll interval', async () => {
      await run(aCampaign());
      expect((await sync({ release: 'another' })).body).toEqual({ banners: { home: expect.anything() } });
    });

    test.each([
      ['external_user_id', undefined, "'external_user_id' is required"],
      ['external_user_id', null, "'external_user_id' is required"],
      ['external_user_id', '', "'external_user_id' is required"],
      ['external_user_id', 7, "'external_user_id' is not valid"],
      ['external_user_id', 'x'.repeat(987), "'external_user_id' is not valid"],
      ['external_user_id', `${'é'.repeat(493)}x`, "'external_user_id' is not valid"],
      ['external_user_id', 'a\u0000b', "'external_user_id' is not valid"],
      ['external_user_id', 'a\ud800', "'external_user_id' is not valid"],
      ['app_id', undefined, "'app_id' is required"],
      ['app_id', 'another-app', ERROR_MESSAGES.unknownApp],
      ['app_version', undefined, "'app_version' is required"],
      ['app_version', '', "'app_version' is required"],
      ['app_version', 'x'.repeat(256), "'app_version' is not valid"],
      ['release', 'x'.repeat(65), "'release' is not valid"],
      ['shown', 'bnr', "'shown' is not valid"],
      ['shown', Array(11).fill('bnr'), "'shown' is not valid"],
      ['placements', undefined, "'placements' is required"],
      ['placements', [], "'placements' is not valid"],
      ['placements', 'home', "'placements' is not valid"],
      ['placements', ['home', ''], "'placements' is not valid"],
      ['placements', ['home', 5], "'placements' is not valid"],
      ['placements', ['home', 'x'.repeat(256)], "'placements' is not valid"],
      ['device_id', 5, "'device_id' is not valid"],
      ['device_id', 'x'.repeat(1_012), "'device_id' is not valid"],
    ])('returns 400 if %s is %j', async (name, value, error) => {
      await run(aCampaign());
      const { status, body } = await sync({ [name]: value });
      expect({ status, body }).toEqual({ status: 400, body: { error } });
    });

    test.each([
      ['external_user_id', 'x'.repeat(986)],
      ['external_user_id', 'é'.repeat(493)],
      ['app_version', '🎈'.repeat(255)],
      ['placements', ['🎈'.repeat(255)]],
      ['device_id', ''],
      ['device_id', null],
      ['device_id', 'x'.repeat(1_011)],
      ['device_id', 'nobody-knows-it'],
    ])('returns 200 if %s is %j', async (name, value) => {
      await run(aCampaign());
      expect((await sync({ [name]: value })).status).toBe(200);
    });

    test('returns the first ten different placements and omits the others', async () => {
      await run(aCampaign({ placements: ['p9'] }));
      const placements = Array.from({ length: 12 }, (_, index) => `p${index}`);
      const { body } = await sync({ placements: ['p0', 'p0', ...placements] });
      expect(Object.keys(body.banners)).toEqual(placements.slice(0, 10));
      expect(body.banners.p9).not.toBeNull();
    });

    test('accepts placement names that JavaScript objects inherit', async () => {
      await run(aCampaign());
      const { status, body } = await sync({ placements: ['__proto__', 'constructor', 'home'] });
      expect(status).toBe(200);
      expect(Object.keys(body.banners)).toEqual(['__proto__', 'constructor', 'home']);
    });

    test('row 6: evaluates an unknown user as anonymous, and creates no profile', async () => {
      await run(
        aCampaign({
          campaign_id: 'targeted',
          priority: 'high',
          audience: { 'custom_attributes.tier': 'gold' },
        }),
        aCampaign(),
      );
      expect((await banner()).properties.headline.value).toBe('Hello');
      const users: unknown[] = [];
      for await (const user of service!.store.exportUsers(workspaceId)) users.push(user);
      expect(users).toEqual([]);
    });

    test('uses the data of a completed /users/track', async () => {
      await run(aCampaign({ audience: { 'custom_attributes.tier': 'gold' } }));
      expect(await banner()).toBeNull();
      await track({ attributes: [{ external_id: 'u-771', tier: 'gold' }] });
      expect(await banner()).not.toBeNull();
      await track({ attributes: [{ external_id: 'u-771', tier: null }] });
      expect(await banner()).toBeNull();
    });

    test('inserts data of the profile', async () => {
      const properties = {
        headline: { type: 'string', value: "Hi {{${first_name} | default: 'there'}}" },
        body: {
          type: 'string',
          value: 'You are {{custom_attribute.${tier}}} on {{targeted_device.${platform} | default: "?"}}',
        },
      };
      await run(aCampaign({ variants: [aVariant({ properties })] }));
      const texts = async (members = {}) => {
        const { properties: filled } = await banner(members);
        return [filled.headline.value, filled.body.value];
      };
      expect(await texts()).toEqual(['Hi there', 'You are  on ?']);
      await track({
        attributes: [
          {
            external_id: 'u-771',
            first_name: 'Kim',
            tier: 'gold',
            push_tokens: [{ app_id: APP_ID, token: 't-1', device_id: 'device-0001' }],
          },
        ],
      });
      expect(await texts({ device_id: 'device-0001' })).toEqual(['Hi Kim', 'You are gold on web']);
      expect(await texts({ device_id: 'device-0002' })).toEqual(['Hi Kim', 'You are gold on ?']);
    });

    test('shows the next campaign if a template fails, and logs the failed one without the user', async () => {
      const broken = { headline: { type: 'number', value: '{{custom_attribute.${score}}}' } };
      await run(
        aCampaign({ campaign_id: 'broken', priority: 'high', variants: [aVariant({ properties: broken })] }),
        aCampaign(),
      );
      await track({ attributes: [{ external_id: 'u-771', score: 'not-a-number' }] });
      expect((await banner()).properties.headline.value).toBe('Hello');
      const line = service!.lines.find(({ campaign }) => campaign === 'broken');
      expect(line).toMatchObject({ level: 'warn', campaign: 'broken', variant: 'a' });
      expect(JSON.stringify(service!.lines)).not.toMatch(/u-771|not-a-number/);
      await track({ attributes: [{ external_id: 'u-771', score: 12 }] });
      expect((await banner()).properties.headline).toEqual({ type: 'number', value: 12 });
    });
  });

  describe('contract 7.1: selection', () => {
    const named = (id: string, members: Record<string, unknown>) =>
      aCampaign({
        campaign_id: id,
        variants: [aVariant({ properties: { name: { type: 'string', value: id } } })],
        ...members,
      });
    const chosen = async (members = {}) => (await banner(members))?.properties.name.value ?? null;

    test('prefers high to medium to low', async () => {
      await run(named('low', { priority: 'low' }), named('none', {}), named('high', { priority: 'high' }));
      expect(await chosen()).toBe('high');
    });

    test('defaults to medium', async () => {
      await run(named('low', { priority: 'low' }), named('none', {}));
      expect(await chosen()).toBe('none');
    });

    test('prefers the later start at the same priority, or else the first in the file', async () => {
      await run(
        named('plain', {}),
        named('old', { starts_at: '2026-01-01T00:00:00Z' }),
        named('new', { starts_at: '2026-02-01T00:00:00+01:00' }),
      );
      expect(await chosen()).toBe('new');
      await service!.stop();
      await run(named('first', {}), named('second', {}));
      expect(await chosen()).toBe('first');
    });

    test('shows neither drafts nor stopped campaigns', async () => {
      await run(named('draft', { status: 'draft' }), named('stopped', { status: 'stopped' }));
      expect(await chosen()).toBeNull();
    });

    test('applies the schedule', async () => {
      await run(named('c', { starts_at: '2026-03-01T10:00:00Z', ends_at: '2026-03-01T11:00:00Z' }));
      const at = async (time: string) => {
        service!.clock.now = Date.parse(time);
        return chosen();
      };
      expect(await at('2026-03-01T09:59:59.999Z')).toBeNull();
      expect(await at('2026-03-01T10:00:00Z')).toBe('c');
      expect(await at('2026-03-01T10:59:59Z')).toBe('c');
      expect(await at('2026-03-01T11:00:00Z')).toBeNull();
    });

    test('contract 7.2: expires with the variant or the campaign, whichever is earlier', async () => {
      const now = Date.parse('2026-03-01T09:00:00Z') / 1000;
      const variants = [aVariant({ cache_ttl_seconds: 3_600 })];
      await run(aCampaign({ variants }));
      expect((await banner()).expires_at).toBe(now + 3_600);
      await service!.stop();
      // The control group counts by the same rules as the others.
      await run(aCampaign({ variants, control_percentage: 100 }));
      expect(await banner()).toMatchObject({ is_control: true, expires_at: now + 3_600 });
      await service!.stop();
      await run(aCampaign({ variants, ends_at: '2026-03-01T09:30:00Z' }));
      expect((await banner()).expires_at).toBe(now + 1_800);
      await service!.stop();
      await run(aCampaign({ ends_at: '2026-03-01T09:30:00Z' }));
      expect((await banner()).expires_at).toBe(now + 1_800);
    });

    test('row 31: a test user gets the campaign in any status, before all others', async () => {
      await run(
        named('live', { priority: 'high' }),
        named('draft', {
          status: 'draft',
          priority: 'low',
          test_users: ['tester'],
          control_percentage: 100,
          audience: { tier: 'x' },
        }),
      );
      expect(await chosen()).toBe('live');
      const sent = await banner({ external_user_id: 'tester' });
      expect(sent).toMatchObject({ is_test_send: true, is_control: false });
      expect(sent.properties.name.value).toBe('draft');
    });
  });

  describe('contract 7.3 and 7.5: control and dismissal', () => {
    test('returns a banner without content to a user in the control group', async () => {
      await run(aCampaign({ control_percentage: 100 }));
      expect(await banner()).toMatchObject({ is_control: true, properties: null });
    });

    test('hides a dismissed campaign on all its placements from that user only', async () => {
      await run(aCampaign({ placements: ['home', 'side'] }));
      const { id } = await banner();
      expect((await tell(id, 'dismiss', '2026-03-01T08:59:00Z')).status).toBe(202);
      expect((await sync({ placements: ['home', 'side'] })).body.banners).toEqual({ home: null, side: null });
      expect(await banner({ external_user_id: 'u-772' })).not.toBeNull();
    });

    test('does not change after an impression or a click', async () => {
      await run(aCampaign());
      const { id } = await banner();
      await tell(id, 'impression', '2026-03-01T08:59:00Z');
      await tell(id, 'click', '2026-03-01T08:59:00Z');
      expect((await banner()).id).toBe(id);
    });

    test('shows the next campaign instead of a dismissed one', async () => {
      await run(aCampaign({ campaign_id: 'first', priority: 'high' }), aCampaign({ campaign_id: 'second' }));
      const first = await banner();
      await tell(first.id, 'dismiss', '2026-03-01T08:59:00Z');
      const second = await banner();
      expect(second.id).not.toBe(first.id);
      await tell(second.id, 'dismiss', '2026-03-01T08:59:00Z');
      expect(await banner()).toBeNull();
    });

    test('starts a new round with another ID when re-eligible, counted from the dismissal', async () => {
      await run(aCampaign({ reeligible_after_hours: 24 }));
      const { id } = await banner();
      await tell(id, 'dismiss', '2026-03-01T08:59:00Z');
      service!.clock.now = Date.parse('2026-03-02T08:58:59Z');
      expect(await banner()).toBeNull();
      service!.clock.now = Date.parse('2026-03-02T08:59:00Z');
      const again = await banner();
      expect(again.id).not.toBe(id);
      expect((await banner()).id).toBe(again.id);
      await tell(again.id, 'dismiss', '2026-03-02T08:59:30Z');
      expect(await banner()).toBeNull();
      service!.clock.now = Date.parse('2026-03-03T09:00:00Z');
      expect([id, again.id]).not.toContain((await banner()).id);
    });

    test('does not start a round on a repeated dismissal', async () => {
      await run(aCampaign({ reeligible_after_hours: 1 }));
      const { id } = await banner();
      await tell(id, 'dismiss', '2026-03-01T08:59:00Z');
      await tell(id, 'dismiss', '2026-03-01T08:59:00Z');
      service!.clock.now = Date.parse('2026-03-01T10:00:00Z');
      const second = (await banner()).id;
      await tell(id, 'dismiss', '2026-03-01T08:59:00Z');
      expect((await banner()).id).toBe(second);
    });

    test('does not start a round on a late dismissal of an earlier one, on any placement', async () => {
      await run(aCampaign({ reeligible_after_hours: 1, placements: ['home', 'side'] }));
      const { home, side } = (await sync({ placements: ['home', 'side'] })).body.banners;
      await tell(home.id, 'dismiss', '2026-03-01T08:59:00Z');
      service!.clock.now = Date.parse('2026-03-01T10:00:00Z');
      const second = (await banner()).id;
      await tell(side.id, 'dismiss', '2026-03-01T08:58:00Z');
      await tell(home.id, 'dismiss', '2026-03-01T08:57:00Z');
      expect((await banner()).id).toBe(second);
    });

    test('does not hide the campaign for longer if the clock of the device is fast', async () => {
      await run(aCampaign({ reeligible_after_hours: 1 }));
      const { id } = await banner();
      await tell(id, 'dismiss', '2036-03-01T09:00:00Z');
      expect(await banner()).toBeNull();
      service!.clock.now += 60 * 60 * 1000;
      expect(await banner()).not.toBeNull();
    });
  });

  describe('row 7: the banner id', () => {
    test('is the same for every sync and user except for its tag, and differs by placement, variant and workspace', async () => {
      // Long enough not to occur in an opaque ID by chance.
      await run(aCampaign({ campaign_id: 'autumn-sale', placements: ['home', 'side'] }));
      const { home, side } = (await sync({ placements: ['home', 'side'] })).body.banners;
      expect((await banner()).id).toBe(home.id);
      const theirs = (await banner({ external_user_id: 'another' })).id;
      expect(theirs).not.toBe(home.id);
      expect(stripUserTag(theirs)).toBe(stripUserTag(home.id));
      expect(side.id).not.toBe(home.id);
      expect(home.id).not.toMatch(/autumn/i);
      expect(Buffer.from(home.id.slice('bnr_'.length), 'base64url').toString()).not.toMatch(/autumn|home/);
    });
  });
});
