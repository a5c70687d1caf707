// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import { expect, test } from 'vitest';
import { createTellUnfilled, UnfilledError } from '../../../src/service/campaigns/unfilled.ts';
import { APP_ID, aCampaign, aVariant, aWorkspace, CLIENT_KEY } from '../../helpers/a-workspace.ts';
import { recordingLog, runService } from '../../helpers/running-service.ts';

const MESSAGE = 'banner not shown: a property cannot be filled in';
const MINUTE_MS = 60_000;

test('the log names the property that keeps a banner away and says why, once a minute', async () => {
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
            aVariant({ properties: { text: { type: 'string', value: "{% render '{{${first_name}}}' %}" } } }),
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
      why: 'A template does not render a number',
    });
    expect(told().find(({ campaign }) => campaign === 'c-2')).toMatchObject({
      property: 'text',
      why: 'A template exceeds its memory limit',
    });
    // The library's own words may quote the user.
    expect(told().find(({ campaign }) => campaign === 'c-3')).toMatchObject({ error: 'RenderError' });
    service.clock.now += MINUTE_MS;
    await sync('a');
    expect(told()).toHaveLength(6);
  } finally {
    await service.stop();
  }
});

test('what was told is remembered within bounds, and a clock that is put back silences nothing', () => {
  const lines: Record<string, unknown>[] = [];
  const tell = createTellUnfilled(recordingLog(lines));
  const fails = (property: string, now: number) =>
    tell({ workspace: 'w', campaign: 'c', variant: null }, new UnfilledError(property, 'x'), now);
  for (let i = 0; i < 1_000; i += 1) fails(`p-${i}`, MINUTE_MS);
  fails('p-0', MINUTE_MS);
  expect(lines).toHaveLength(1_000);
  // One more than are remembered: all are told of anew.
  fails('one more', MINUTE_MS);
  fails('p-0', MINUTE_MS);
  expect(lines).toHaveLength(1_002);
  fails('p-0', 0);
  expect(lines).toHaveLength(1_003);
});
