// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
// The language of banners and of stored banner events, on each store.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { exportLines, openStore, type Store } from '../../../src/service/index.ts';
import {
  APP_ID,
  aCampaign,
  aVariant,
  aWorkspace,
  CLIENT_KEY,
  SERVER_KEY,
} from '../../helpers/a-workspace.ts';
import { keptOpen, type RunningService, runService, STORES } from '../../helpers/running-service.ts';

const text = (value: string) => ({ type: 'string', value });
const translated = aCampaign({
  language: 'en',
  variants: [
    aVariant({
      properties: {
        headline: text('Hello {{${first_name} | default: "you"}}'),
        body: text('New cups'),
        link: text('/cups'),
      },
      translations: {
        pt: { headline: 'Olá {{${first_name} | default: "você"}}', body: 'Novas chávenas' },
        'pt-BR': { body: 'Novas xícaras' },
        ar: { headline: 'أهلاً', link: '/ar/cups' },
      },
    }),
  ],
});

describe.each(STORES)('on $name', ({ address }) => {
  let shared: Store;
  let store: Store;
  let workspaceId = '';
  let service: RunningService;
  beforeAll(async () => {
    shared = await openStore(await address());
    store = keptOpen(shared);
  });
  afterAll(() => shared.close());
  beforeEach(({ task }) => {
    workspaceId = `test-${task.id}`;
  });
  afterEach(() => service?.stop());

  const run = async (...campaigns: Record<string, unknown>[]) => {
    service = await runService([aWorkspace({ workspace_id: workspaceId, campaigns })], { store });
  };
  const envelope = (user: string) => ({ external_user_id: user, app_id: APP_ID, app_version: '1' });
  const banner = async (user: string, acceptLanguage?: string) => {
    const { body } = await service.call('POST', '/v1/device-messaging/banners/sync', {
      key: CLIENT_KEY,
      body: { ...envelope(user), placements: ['home'] },
      ...(acceptLanguage !== undefined && { headers: { 'accept-language': acceptLanguage } }),
    });
    return body.banners.home;
  };
  const said = async (user: string, acceptLanguage?: string) => {
    const { properties } = await banner(user, acceptLanguage);
    return Object.fromEntries(
      Object.entries<{ value: unknown }>(properties).map(([name, { value }]) => [name, value]),
    );
  };
  const exported = async () => {
    const lines: unknown[] = [];
    for await (const line of exportLines(store, 'banner-events', workspaceId)) lines.push(line);
    return lines;
  };
  const set = (attributes: Record<string, unknown>) =>
    service.call('POST', '/users/track', { key: SERVER_KEY, body: { attributes: [attributes] } });
  const track = (user: string, id: string, event_type = 'impression') =>
    service.call('POST', '/v1/device-messaging/banners/track', {
      key: CLIENT_KEY,
      body: { ...envelope(user), events: [{ id, event_type, timestamp: '2026-03-01T08:00:00Z' }] },
    });

  test('uses the profile’s language, and for each text the closest language that has it', async () => {
    await run(translated);
    await set({ external_id: 'lu', language: 'pt-BR', first_name: 'Lu' });
    expect(await said('lu')).toEqual({
      headline: 'Olá Lu',
      body: 'Novas xícaras',
      link: '/cups',
      language: 'pt-BR',
    });
    await set({ external_id: 'rui', language: 'pt_PT' });
    expect(await said('rui')).toMatchObject({ headline: 'Olá você', body: 'Novas chávenas', language: 'pt' });
    await set({ external_id: 'pol', language: 'pl' });
    expect(await said('pol', 'ar')).toMatchObject({ headline: 'Hello you', language: 'en' });
  });

  test('uses the browser’s language without one in the profile, choosing the best available', async () => {
    await run(translated);
    expect(await said('new', 'pl, ar;q=0.5, pt;q=0.8')).toMatchObject({ language: 'pt' });
    expect(await said('new', 'fr-CH, en;q=0.9, ar;q=0.8')).toMatchObject({ language: 'en' });
    expect(await said('new', 'ar-EG')).toMatchObject({
      headline: 'أهلاً',
      body: 'New cups',
      link: '/ar/cups',
    });
    for (const header of ['', '*', 'ar;q=0', ';;,,q=1', 'x'.repeat(5_000)]) {
      expect(await said('new', header), header.slice(0, 20)).toMatchObject({ language: 'en' });
    }
  });

  test('stores the shown language with the event, exports it, and splits results by it', async () => {
    await run(translated);
    for (const [user, language] of [
      ['a', 'pt'],
      ['b', 'pt-BR'],
      ['c', 'pt-BR'],
      ['d', 'en'],
    ] as const) {
      await track(user, (await banner(user, language)).id);
    }
    await track('c', (await banner('c', 'pt-BR')).id, 'click');
    const { languages } = await store.campaignResults(workspaceId, {
      campaignId: 'c1',
      goals: [],
      timeZone: 'UTC',
    });
    expect(languages.map(({ language, exposed, clicked }) => [language, exposed, clicked])).toEqual([
      ['en', 1, 0],
      ['pt', 1, 0],
      ['pt-BR', 2, 1],
    ]);
    expect(await store.verifyResults(workspaceId)).toEqual([]);
    const lines = await exported();
    expect(lines.map((line) => (line as { language?: string }).language).sort()).toEqual([
      'en',
      'pt',
      'pt-BR',
      'pt-BR',
      'pt-BR',
    ]);
  });

  test('counts the control group by the language that would have been shown', async () => {
    const users = Array.from({ length: 20 }, (_, index) => `u-${index}`);
    const variants = [...(translated['variants'] as object[]), aVariant({ variant_id: 'english' })];
    await run({ ...translated, variants });
    const read = new Map<string, number>();
    for (const user of users) {
      const { properties } = await banner(user, 'pt-BR');
      const language = properties.language.value;
      read.set(language, (read.get(language) ?? 0) + 1);
    }
    expect([...read.keys()].sort()).toEqual(['en', 'pt-BR']);
    await service.stop();
    await run({ ...translated, variants, control_percentage: 100 });
    for (const user of users) await track(user, (await banner(user, 'pt-BR')).id);
    const { languages } = await store.campaignResults(workspaceId, {
      campaignId: 'c1',
      goals: [],
      timeZone: 'UTC',
    });
    expect(new Map(languages.map(({ language, exposed }) => [language, exposed]))).toEqual(read);
  });

  test('leaves campaigns without languages unchanged in responses, exports and results', async () => {
    await run(aCampaign());
    const { id, properties } = await banner('a', 'pt-BR');
    expect(properties).toEqual({ headline: text('Hello') });
    expect((await banner('b', 'ar')).id.slice(0, -8)).toBe(id.slice(0, -8));
    await track('a', id);
    expect(await exported()).toEqual([expect.not.objectContaining({ language: expect.anything() })]);
    const { languages } = await store.campaignResults(workspaceId, {
      campaignId: 'c1',
      goals: [],
      timeZone: 'UTC',
    });
    expect(languages).toEqual([]);
  });

  test('keeps a campaign property with the name of the language property', async () => {
    const properties = { headline: text('Hi'), language: text('mine') };
    await run(aCampaign({ language: 'en', variants: [aVariant({ properties })] }));
    expect(await said('a')).toEqual({ headline: 'Hi', language: 'mine' });
  });
});
