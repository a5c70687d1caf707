// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import { afterEach, describe, expect, test } from 'vitest';
import { ERROR_MESSAGES, EXPLAIN_PATH } from '../../../src/protocol/index.ts';
import { explainResult } from '../../../src/protocol/schemas/index.ts';
import {
  APP_ID,
  aCampaign,
  aVariant,
  aWorkspace,
  CLIENT_KEY,
  SERVER_KEY,
} from '../../helpers/a-workspace.ts';
import { type RunningService, runService } from '../../helpers/running-service.ts';

let service: RunningService | undefined;
afterEach(async () => {
  await service?.stop();
  service = undefined;
});

const run = async (...campaigns: Record<string, unknown>[]) => {
  service = await runService([aWorkspace({ campaigns })]);
};
const explain = (members: Record<string, unknown> = {}) =>
  service!.call('POST', EXPLAIN_PATH, { key: SERVER_KEY, body: { external_user_id: 'u-771', ...members } });
const reasons = async (members: Record<string, unknown> = {}) =>
  (await explain(members)).body.placements.home;
const envelope = { external_user_id: 'u-771', app_id: APP_ID, app_version: '1' };
const bannerAtHome = async () =>
  (
    await service!.call('POST', '/v1/device-messaging/banners/sync', {
      key: CLIENT_KEY,
      body: { ...envelope, placements: ['home'] },
    })
  ).body.banners.home;
const dismiss = async () =>
  service!.call('POST', '/v1/device-messaging/banners/track', {
    key: CLIENT_KEY,
    body: {
      ...envelope,
      events: [
        { id: (await bannerAtHome()).id, event_type: 'dismiss', timestamp: '2026-03-01T08:00:00.000Z' },
      ],
    },
  });
const know = (attributes: Record<string, unknown>) =>
  service!.call('POST', '/users/track', {
    key: SERVER_KEY,
    body: { attributes: [{ external_id: 'u-771', ...attributes }] },
  });

describe('explain returns the first reason for each campaign of a placement', () => {
  test('shown, with variant, banner and bucket', async () => {
    await run(aCampaign({ name: 'Spring', control_percentage: 1 }));
    const { id } = await bannerAtHome();
    expect(await reasons()).toEqual([
      {
        campaign_id: 'c1',
        name: 'Spring',
        outcome: 'shown',
        message: 'shows variant a',
        banner_id: id,
        variant_id: 'a',
        is_test_send: false,
        bucket: expect.any(Number),
        control_percentage: 1,
      },
    ]);
  });

  test('user in the control group, with the bucket', async () => {
    await run(aCampaign({ control_percentage: 100 }), aCampaign({ campaign_id: 'c2' }));
    const { id } = await bannerAtHome();
    const [first, second] = await reasons();
    expect(first).toMatchObject({ outcome: 'held_out', banner_id: id, control_percentage: 100 });
    expect(first.bucket).toBeGreaterThanOrEqual(0);
    expect(first.message).toBe(
      `shows nothing: the user is held out (bucket ${first.bucket}, control is below 100)`,
    );
    // The control group is compared with users who see the campaign, so no other campaign may use its placement.
    expect(second).toMatchObject({ outcome: 'outranked', winning_campaign_id: 'c1' });
  });

  test.each([
    ['draft', 'is a draft'],
    ['stopped', 'is stopped'],
  ])('%s campaign', async (status, message) => {
    await run(aCampaign({ status }));
    expect(await reasons()).toMatchObject([{ outcome: 'inactive', status, message }]);
  });

  test('outside the schedule', async () => {
    await run(
      aCampaign({ campaign_id: 'later', starts_at: '2026-03-02T00:00:00Z' }),
      aCampaign({
        campaign_id: 'over',
        starts_at: '2026-01-01T00:00:00Z',
        ends_at: '2026-03-01T10:00:00+01:00',
      }),
    );
    expect(await reasons()).toMatchObject([
      {
        campaign_id: 'later',
        outcome: 'outside_schedule',
        starts_at: '2026-03-02T00:00:00.000Z',
        ends_at: null,
        message: 'runs from 2026-03-02T00:00:00.000Z',
      },
      {
        campaign_id: 'over',
        outcome: 'outside_schedule',
        ends_at: '2026-03-01T09:00:00.000Z',
        message: 'runs from 2026-01-01T00:00:00.000Z until 2026-03-01T09:00:00.000Z',
      },
    ]);
  });

  test('audience mismatch, with each failed clause', async () => {
    await run(
      aCampaign({
        audience: {
          tier: 'gold',
          $and: [{ country: 'PL' }, { 'custom_attributes.visits': { $gte: 3 } }],
          $or: [{ language: 'pl' }, { 'events.quiz.count': { $gte: 1 } }],
          'events.seen.last': { $gte: '2026-02-01' },
        },
      }),
    );
    await know({ tier: 'silver', country: 'PL' });
    const [{ outcome, clauses, message }] = await reasons();
    expect(outcome).toBe('not_in_audience');
    expect(clauses).toEqual([
      { clause: 'audience.tier', expected: 'gold', actual: 'silver' },
      { clause: 'audience.$and[1].custom_attributes.visits', expected: { $gte: 3 }, actual: null },
      { clause: 'audience.$or', expected: [{ language: 'pl' }, { 'events.quiz.count': { $gte: 1 } }] },
      { clause: 'audience.events.seen.last', expected: { $gte: '2026-02-01' }, actual: null },
    ]);
    expect(message).toBe(
      'the user is not in the audience: audience.tier expects "gold", the user has "silver"; ' +
        'audience.$and[1].custom_attributes.visits expects {"$gte":3}, the user has nothing; ' +
        'audience.$or does not match: [{"language":"pl"},{"events.quiz.count":{"$gte":1}}]; ' +
        'audience.events.seen.last expects {"$gte":"2026-02-01"}, the user has nothing',
    );
  });

  test('dismissed by the user, permanently or temporarily', async () => {
    await run(aCampaign({ priority: 'high' }), aCampaign({ campaign_id: 'c2', reeligible_after_hours: 24 }));
    await dismiss();
    await dismiss();
    expect(await reasons()).toMatchObject([
      {
        outcome: 'dismissed',
        dismissed_at: '2026-03-01T08:00:00.000Z',
        eligible_again_at: null,
        message: 'the user dismissed it at 2026-03-01T08:00:00.000Z; it is not shown again',
      },
      {
        outcome: 'dismissed',
        eligible_again_at: '2026-03-02T08:00:00.000Z',
        message:
          'the user dismissed it at 2026-03-01T08:00:00.000Z; it is shown again from 2026-03-02T08:00:00.000Z',
      },
    ]);
  });

  test('lower priority, with the name of the preferred campaign', async () => {
    await run(aCampaign({ campaign_id: 'low', priority: 'low' }), aCampaign({ campaign_id: 'high' }));
    expect(await reasons()).toMatchObject([
      { campaign_id: 'high', outcome: 'shown' },
      {
        campaign_id: 'low',
        outcome: 'outranked',
        winning_campaign_id: 'high',
        message: 'campaign high ranks higher',
      },
    ]);
  });

  test('property that cannot be rendered for this user, and the next campaign is shown', async () => {
    const points = { type: 'number', value: '{{custom_attribute.${points}}}' };
    await run(
      aCampaign({ priority: 'high', variants: [aVariant({ properties: { points } })] }),
      aCampaign({ campaign_id: 'c2' }),
    );
    expect(await reasons()).toMatchObject([
      {
        outcome: 'render_failed',
        variant_id: 'a',
        property: 'points',
        problem: 'The output is not a number',
        message: 'the property points cannot be rendered: The output is not a number',
      },
      { campaign_id: 'c2', outcome: 'shown' },
    ]);
  });

  test('draft as a test send for a test user', async () => {
    await run(
      aCampaign({ priority: 'high' }),
      aCampaign({ campaign_id: 'draft', status: 'draft', test_users: ['u-771'] }),
    );
    expect(await reasons()).toMatchObject([
      {
        campaign_id: 'draft',
        outcome: 'shown',
        is_test_send: true,
        message: 'shows variant a as a test send',
      },
      { campaign_id: 'c1', outcome: 'outranked', winning_campaign_id: 'draft' },
    ]);
  });

  test('draft, even if the schedule has also ended', async () => {
    await run(aCampaign({ status: 'draft', ends_at: '2020-01-01T00:00:00Z', audience: { tier: 'gold' } }));
    expect(await reasons()).toMatchObject([{ outcome: 'inactive' }]);
  });
});

describe('POST /explain', () => {
  test('matches its schema, and reports whether the user is known', async () => {
    await run(aCampaign({ audience: { tier: 'gold' } }), aCampaign({ campaign_id: 'c2' }));
    const unknown = await explain();
    expect(unknown.status).toBe(200);
    expect(explainResult.safeParse(unknown.body)).toMatchObject({ success: true });
    expect(unknown.body.has_profile).toBe(false);
    await know({ tier: 'gold' });
    const known = await explain();
    expect(known.body.has_profile).toBe(true);
    expect(known.body.placements.home).toMatchObject([{ outcome: 'shown' }, { outcome: 'outranked' }]);
  });

  test('covers every placement with campaigns if the request omits placements', async () => {
    await run(
      aCampaign({ placements: ['home', 'side'] }),
      aCampaign({ campaign_id: 'c2', placements: ['top'] }),
    );
    expect(Object.keys((await explain()).body.placements)).toEqual(['home', 'side', 'top']);
    const named = await explain({ placements: ['top', 'nobody-names-it'] });
    expect(named.body.placements).toEqual({
      top: [expect.objectContaining({ campaign_id: 'c2' })],
      'nobody-names-it': [],
    });
  });

  test('requires the app if the workspace has several', async () => {
    const apps = [{ app_id: 'one' }, { app_id: 'two' }];
    service = await runService([
      aWorkspace({ apps, campaigns: [aCampaign({ audience: { app_id: 'two' } })] }),
    ]);
    expect((await explain()).body.message).toBe("'app_id' is required");
    expect(await reasons({ app_id: 'one' })).toMatchObject([{ outcome: 'not_in_audience' }]);
    expect(await reasons({ app_id: 'two' })).toMatchObject([{ outcome: 'shown' }]);
    expect((await explain({ app_id: 'three' })).body.message).toBe(ERROR_MESSAGES.unknownApp);
  });

  test('rejects client keys, and server keys without the permission', async () => {
    const keys = [
      { type: 'client', key: CLIENT_KEY, permissions: ['banners.sync', 'banners.track'] },
      { type: 'server', key: 'other', permissions: ['users.track', 'users.export.ids'] },
    ];
    service = await runService([aWorkspace({ api_keys: keys, campaigns: [aCampaign()] })]);
    for (const key of [CLIENT_KEY, 'other']) {
      const { status, body } = await service.call('POST', EXPLAIN_PATH, {
        key,
        body: { external_user_id: 'u-771' },
      });
      expect(status).toBe(403);
      expect(body).not.toHaveProperty('placements');
    }
    expect((await service.call('OPTIONS', EXPLAIN_PATH)).status).toBe(405);
  });

  test('does not store anything or log personal data', async () => {
    const points = { type: 'number', value: '{{custom_attribute.${points}}}' };
    await run(aCampaign({ variants: [aVariant({ properties: { points } })] }));
    await explain();
    expect(await service!.store.readUsers('test', [{ by: 'external_id', value: 'u-771' }])).toEqual([]);
    expect(service!.lines.filter(({ level }) => level !== 'debug' && level !== 'info')).toEqual([]);
  });
});
