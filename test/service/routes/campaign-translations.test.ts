import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../../../src/service/index.ts';
import { aCampaign, aVariant, aWorkspace, CLIENT_KEY } from '../../helpers/a-workspace.ts';
import { asServer, type RunningService, runService, STORES } from '../../helpers/running-service.ts';

const text = (value: string) => ({ type: 'string', value });
const variants = (german: string) => [
  aVariant({
    variant_id: 'a',
    properties: { headline: text('Hello'), body: text('All tea'), columns: { type: 'number', value: 2 } },
    translations: { de: { headline: german }, 'pt-BR': { headline: 'Olá' } },
  }),
  aVariant({ variant_id: 'b' }),
];
const campaign = aCampaign({ campaign_id: 'spring', language: 'en', variants: variants('Hallo') });

describe.each(STORES)('translations on $name', ({ address }) => {
  let service: RunningService;
  const get = (path: string) => service.call('GET', `/campaigns/translations${path}`, asServer);
  const put = (body: object) => service.call('PUT', '/campaigns/translations', { ...asServer, body });
  const update = { campaign_id: 'spring', message_variation_id: 'a', locale_id: 'de' };
  const of = 'campaign_id=spring&message_variation_id=a';
  const saveDraft = (content: object, over: string | null, campaignId = 'spring') =>
    service.store.studio.saveDraft(
      {
        workspaceId: 'test',
        campaignId,
        campaign: content,
        revision: 'r1',
        basedOn: 1,
        editor: 'Ed',
        updatedAtMs: 0,
      },
      over,
    );

  beforeAll(async () => {
    const plain = aCampaign({ campaign_id: 'plain' });
    service = await runService([aWorkspace({ campaigns: [campaign, plain] })], {
      store: await openStore(await address()),
    });
  });
  afterAll(() => service.stop());

  test('returns the texts of each locale, and of one by its UUID or tag', async () => {
    const { status, body } = await get(`?${of}`);
    expect(status).toBe(200);
    expect(body).toEqual({
      translations: [
        {
          translation_map: { headline: 'Hallo' },
          locale: {
            uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
            name: 'German',
            country: '',
            language: 'de',
            locale_key: 'de',
          },
        },
        {
          translation_map: { headline: 'Olá' },
          locale: expect.objectContaining({ country: 'BR', language: 'pt', locale_key: 'pt-BR' }),
        },
      ],
      message: 'success',
    });
    const [, portuguese] = body.translations;
    for (const locale of [portuguese.locale.uuid, 'pt-BR'])
      expect((await get(`?${of}&locale_id=${locale}`)).body.translations).toEqual([portuguese]);
    expect((await get(`?campaign_id=spring&message_variation_id=b`)).body.translations).toEqual([]);
  });

  test('returns the texts to translate', async () => {
    expect((await get(`/source?${of}`)).body).toEqual({
      translations: { translation_map: { headline: 'Hello', body: 'All tea' } },
      message: 'success',
    });
  });

  test.each([
    [400, '?campaign_id=spring', "'message_variation_id' is required"],
    [404, '?campaign_id=none&message_variation_id=a', 'Invalid campaign_id'],
    [404, '?campaign_id=spring&message_variation_id=none', 'Invalid message_variation_id'],
    [404, `?${of}&locale_id=fr`, 'Invalid locale_id'],
    [404, `?${of}&post_launch_draft_version=true`, 'Campaign has no draft'],
  ])('responds with %i to %s: %s', async (status, query, message) => {
    expect(await get(query)).toMatchObject({ status, body: { message } });
  });

  test('requires the permission of reading or writing', async () => {
    expect((await service.call('GET', `/campaigns/translations?${of}`, { key: CLIENT_KEY })).status).toBe(
      403,
    );
  });

  test('translates the draft, and leaves the live campaign and other texts unchanged', async () => {
    expect(await put({ ...update, translation_map: { headline: 'Moin' } })).toMatchObject({
      status: 400,
      body: { message: 'Campaign has no draft: edit it in the Studio first' },
    });
    const draft = { ...campaign, audience: { tier: 'gold' }, priority: 'unfinished' };
    await saveDraft(draft, null);
    const [german] = (await get(`?${of}`)).body.translations;
    const texts = { headline: 'Moin', body: 'Tee' };
    expect(await put({ ...update, locale_id: german.locale.uuid, translation_map: texts })).toMatchObject({
      status: 200,
      body: { message: 'success' },
    });
    expect((await put({ ...update, locale_id: 'fr', translation_map: { body: 'Thé' } })).status).toBe(200);
    expect((await put({ ...update, locale_id: 'pt-BR', translation_map: { headline: '' } })).status).toBe(
      200,
    );
    const stored = await service.store.studio.draft('test', 'spring');
    expect(stored).toMatchObject({ basedOn: 1, editor: expect.not.stringMatching(/^Ed$/) });
    expect(stored!.revision).not.toBe('r1');
    const [first, second] = variants('Hallo');
    const translations = { de: texts, 'pt-BR': {}, fr: { body: 'Thé' } };
    expect(stored!.campaign).toEqual({ ...draft, variants: [{ ...first, translations }, second] });
    expect((await get(`?${of}`)).body.translations[0].translation_map).toEqual({ headline: 'Hallo' });
    const ofDraft = await get(`?${of}&post_launch_draft_version=true&locale_id=de`);
    expect(ofDraft.body.translations[0].translation_map).toEqual(texts);
  });

  test('reads the draft of a campaign that was never live', async () => {
    await saveDraft({ ...campaign, campaign_id: 'new' }, null, 'new');
    expect((await get('/source?campaign_id=new&message_variation_id=a')).status).toBe(200);
  });

  test.each([
    [400, {}, "'translation_map.other': the variant has no text with this name", { other: 'x' }],
    [400, {}, "'translation_map.columns': the variant has no text with this name", { columns: '3' }],
    [400, {}, "'translation_map' must be an object of texts", ['x']],
    [400, { locale_id: 'en' }, "'en' is the language of the campaign: change its texts in the Studio", {}],
    [404, { locale_id: 'not a locale' }, 'Invalid locale_id', {}],
    [404, { message_variation_id: 'none' }, 'Invalid message_variation_id', {}],
  ])('rejects with %i a change of %j: %s', async (status, change, message, translation_map) => {
    await saveDraft(campaign, (await service.store.studio.draft('test', 'spring'))?.revision ?? null);
    expect(await put({ ...update, translation_map, ...change })).toMatchObject({ status, body: { message } });
    expect((await service.store.studio.draft('test', 'spring'))!.revision).toBe('r1');
  });

  test('keeps all translations of concurrent requests', async () => {
    await saveDraft(campaign, (await service.store.studio.draft('test', 'spring'))?.revision ?? null);
    const tags = ['fr', 'it', 'es', 'nl'];
    const all = tags.map((locale_id) => put({ ...update, locale_id, translation_map: { body: locale_id } }));
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual(tags.map(() => 200));
    const { translations } = (await get(`?${of}&post_launch_draft_version=true`)).body;
    expect(
      translations.map(({ locale }: { locale: { locale_key: string } }) => locale.locale_key).sort(),
    ).toEqual(['de', 'es', 'fr', 'it', 'nl', 'pt-BR']);
  });
});
