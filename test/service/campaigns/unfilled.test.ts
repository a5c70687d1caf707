// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import { expect, test } from 'vitest';
import { APP_ID, aCampaign, aVariant, aWorkspace, CLIENT_KEY } from '../../helpers/a-workspace.ts';
import { runService } from '../../helpers/running-service.ts';

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
      why: 'What it prints is not a number',
    });
    // The library's own words may quote the user.
    expect(told().find(({ campaign }) => campaign === 'c-3')).toMatchObject({ error: 'AssertionError' });
    service.clock.now += MINUTE_MS;
    // What was too much for a user is not tried again for them.
    await sync('a');
    expect(told()).toHaveLength(5);
    expect(service.lines.filter(({ level }) => level === 'error')).toEqual([]);
    for (let user = 0; user < 20; user += 1) await sync(`u-${user}`);
    expect(service.lines.filter(({ level }) => level === 'error')).toEqual([
      {
        level: 'error',
        message: 'campaign halted until it changes: nobody sees it',
        workspace: 'test',
        campaign: 'c-2',
        variant: 'a',
        property: 'text',
        why: 'It takes too long to write this text: use fewer or shorter loops, lists and repetitions',
      },
    ]);
  } finally {
    await service.stop();
  }
});
