import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SYNC_PATH, TRACK_PATH } from '../../../src/protocol/index.ts';
import { openStore, type Store } from '../../../src/service/index.ts';
import { APP_ID, aCampaign } from '../../helpers/a-workspace.ts';
import { keptOpen, STORES } from '../../helpers/running-service.ts';
import { aStudioWorkspace, type RunningStudio, runStudio } from '../../helpers/running-studio.ts';

const CHROME =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';
const GOOGLEBOT =
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Googlebot/2.1; +http://www.google.com/bot.html) Chrome/141.0.0.0 Safari/537.36';

describe.each(STORES)('a well-known bot on $name', ({ address }) => {
  let store: Store;
  let studio: RunningStudio;
  beforeEach(async () => {
    store = await openStore(await address());
    const once = aCampaign({
      campaign_id: 'once',
      placements: ['home'],
      frequency: { stop_after: { impressions: 1 } },
    });
    studio = await runStudio(aStudioWorkspace({ campaigns: [once] }), { store: keptOpen(store) });
  });
  afterEach(async () => {
    await studio.stop();
    await store.close();
  });

  const envelope = { external_user_id: 'v1', app_id: APP_ID, app_version: '1' };
  const post = (path: string, body: object, agent: string) =>
    studio.fromPage(path, { ...envelope, ...body }, { 'user-agent': agent });
  const look = async (agent: string) => {
    const { home } = (await post(SYNC_PATH, { placements: ['home'] }, agent)).body.banners;
    if (!home) return null;
    const seen = {
      id: home.id,
      event_type: 'impression',
      timestamp: new Date(studio.clock.now).toISOString(),
    };
    return (await post(TRACK_PATH, { events: [seen] }, agent)).status;
  };

  test('receives a response like any user, but does not count in results or caps', async () => {
    expect(await look(GOOGLEBOT)).toBe(202);
    studio.clock.now += 1_000;
    expect(await look(GOOGLEBOT)).toBe(202);
    const numbers = () => store.campaignSummaries('test');
    expect(await numbers()).toEqual([]);
    studio.clock.now += 1_000;
    expect(await look(CHROME)).toBe(202);
    expect(await numbers()).toMatchObject([{ campaignId: 'once', exposed: 1, clicked: 0 }]);
    expect(await look(CHROME)).toBeNull();
  });

  test.each([
    ['a backend that forwards events', 'node'],
    ['a headless browser of tests', CHROME.replace('Chrome', 'HeadlessChrome')],
  ])('does not detect %s', async (_, agent) => {
    expect(await look(agent)).toBe(202);
    expect(await store.campaignSummaries('test')).toMatchObject([
      { campaignId: 'once', exposed: 1, clicked: 0 },
    ]);
  });
});
