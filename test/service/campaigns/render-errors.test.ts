// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import { expect, test } from 'vitest';
import {
  APP_ID,
  aCampaign,
  aVariant,
  aWorkspace,
  CLIENT_KEY,
  SERVER_KEY,
} from '../../helpers/a-workspace.ts';
import { runService } from '../../helpers/running-service.ts';

const MESSAGE = 'banner not shown: a property cannot be rendered';
const MINUTE_MS = 60_000;

test('logs the property that blocks a banner, with the reason, once a minute', async () => {
  const properties = {
    headline: { type: 'string', value: 'Hi {{${first_name}}}' },
    points: { type: 'number', value: '{{custom_attribute.${points}}}' },
  };
  const wild = '{% for i in (1..100000000) %}{{${first_name}}}{% endfor %}';
  const service = await runService([
    aWorkspace({
      campaigns: [
        aCampaign({ campaign_id: 'c-1', variants: [aVariant({ variant_id: 'v-1', properties })] }),
        aCampaign({
          campaign_id: 'c-2',
          variants: [aVariant({ properties: { text: { type: 'string', value: wild } } })],
        }),
        aCampaign({
          campaign_id: 'c-3',
          variants: [
            aVariant({ properties: { text: { type: 'string', value: "{{ 'a%' | base64_decode }}" } } }),
          ],
        }),
      ],
    }),
  ]);
  const sync = (user: string) =>
    service.call('POST', '/v1/device-messaging/banners/sync', {
      key: CLIENT_KEY,
      body: { external_user_id: user, app_id: APP_ID, app_version: '1', placements: ['home'] },
    });
  const told = () => service.lines.filter(({ message }) => message === MESSAGE);
  try {
    for (const user of ['a', 'b', 'c']) expect((await sync(user)).body).toEqual({ banners: { home: null } });
    expect(told()).toHaveLength(3);
    expect(told()).toContainEqual({
      level: 'warn',
      message: MESSAGE,
      workspace: 'test',
      campaign: 'c-1',
      variant: 'v-1',
      property: 'points',
      reason: 'The output is not a number',
    });
    // The library's message may quote user data.
    expect(told().find(({ campaign }) => campaign === 'c-3')).toMatchObject({ error: 'AssertionError' });
    service.clock.now += MINUTE_MS;
    // A template that exceeded the budget for a user is not retried for that user.
    await sync('a');
    expect(told()).toHaveLength(5);
    expect(service.lines.filter(({ level }) => level === 'error')).toEqual([]);
    for (let user = 0; user < 20; user += 1) await sync(`u-${user}`);
    expect(service.lines.filter(({ level }) => level === 'error')).toEqual([
      {
        level: 'error',
        message: 'campaign halted until it changes',
        workspace: 'test',
        campaign: 'c-2',
        variant: 'a',
        property: 'text',
        reason: 'The text takes too long to render: use fewer or shorter loops, lists and repetitions',
      },
    ]);
  } finally {
    await service.stop();
  }
});

test('does not halt an expensive campaign because of explanations', async () => {
  const wild = '{% for i in (1..100000000) %}{{${first_name}}}{% endfor %}';
  const variants = [aVariant({ properties: { text: { type: 'string', value: wild } } })];
  const service = await runService([
    aWorkspace({ campaigns: [aCampaign({ campaign_id: 'c-1', variants })] }),
  ]);
  try {
    for (let user = 0; user < 12; user += 1) {
      const body = { external_user_id: `u-${user}`, placements: ['home'] };
      const answer = await service.call('POST', '/placard/explain', { key: SERVER_KEY, body });
      expect(answer.body.placements.home).toMatchObject([{ outcome: 'render_failed' }]);
    }
    await service.call('POST', '/v1/device-messaging/banners/sync', {
      key: CLIENT_KEY,
      body: { external_user_id: 'a', app_id: APP_ID, app_version: '1', placements: ['home'] },
    });
    // A halted campaign is not rendered.
    expect(service.lines.filter(({ message }) => message === MESSAGE)).toHaveLength(1);
  } finally {
    await service.stop();
  }
});

test('excludes users whose banner cannot be rendered from the control group', async () => {
  const properties = { points: { type: 'number', value: '{{custom_attribute.${points}}}' } };
  const campaigns = [
    aCampaign({ control_percentage: 50, variants: [aVariant({ properties })] }),
    aCampaign({ campaign_id: 'next', priority: 'low' }),
  ];
  const holdout = { percentage: 50, starts_at: '2026-02-01T00:00:00Z' };
  for (const file of [
    { campaigns, holdout },
    { campaigns: campaigns.slice(0, 1), holdout },
    { campaigns: campaigns.slice(0, 1) },
  ]) {
    const service = await runService([aWorkspace(file)]);
    const outcomes = async (user: string) => {
      const body = { external_user_id: user, placements: ['home'] };
      const answer = await service.call('POST', '/placard/explain', { key: SERVER_KEY, body });
      const reasons: { campaign_id: string; outcome: string }[] = answer.body.placements.home;
      return reasons.map(({ outcome }) => outcome);
    };
    const known = Array.from({ length: 40 }, (_, index) => `known-${index}`);
    try {
      const attributes = known.map((external_id) => ({ external_id, points: 3 }));
      await service.call('POST', '/users/track', { key: SERVER_KEY, body: { attributes } });
      for (let user = 0; user < 40; user += 1)
        expect((await outcomes(`new-${user}`))[0]).toBe('render_failed');
      const first = new Set(await Promise.all(known.map(async (user) => (await outcomes(user))[0])));
      expect(first).toEqual(new Set(['shown', 'held_out']));
    } finally {
      await service.stop();
    }
  }
});
