import * as z from 'zod/mini';
import { DRAFTS_TOO_LARGE, ERROR_MESSAGES, MAX_DRAFTS_BYTES, MAX_LANGUAGES } from '../../protocol/index.ts';
import { described } from '../../protocol/schemas/index.ts';
import { flag } from '../api/query.ts';
import { defineRoute, type RouteContext, serverBody } from '../api/route.ts';
import { hashId } from '../data-out/event-id.ts';
import { schemaReader } from '../http/body.ts';
import { HttpError } from '../http/http-request.ts';
import { createRevision } from '../operators/index.ts';
import { isLanguageTag } from '../workspace/campaign-schema.ts';
import { id, message, REPORT } from './reports/report.ts';

const MAX_BODY_BYTES = 1024 * 1024;
/** Attempts to save a draft that operators edit at the same time. */
const MAX_ATTEMPTS = 10;

/** Parts of a campaign's JSON that contain texts. The rest of a draft may be invalid. */
const translated = z.looseObject({
  language: z.nullish(z.string()),
  variants: z.array(
    z.looseObject({
      variant_id: z.string(),
      properties: z.record(z.string(), z.looseObject({ type: z.string(), value: z.unknown() })),
      translations: z.nullish(z.record(z.string(), z.record(z.string(), z.string()))),
    }),
  ),
});
type Translated = z.infer<typeof translated>;
type TranslatedVariant = Translated['variants'][number];

const translationMap = z
  .record(z.string(), z.string(), "'translation_map' must be an object of texts")
  .check(described('Texts by property.'));

const variationId = z.string("'message_variation_id' is required").check(described('ID of the variant.'));
const draftFlag = flag('`true`: the draft of a live campaign.');

/** Returns the ID of a language, which is the same in all campaigns and workspaces. */
const getLocaleId = (language: string): string => hashId('locale', language);

const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'code' });

const toLocale = (tag: string) => {
  const { baseName, language, region } = new Intl.Locale(tag);
  return {
    uuid: getLocaleId(tag),
    name: names.of(baseName) ?? tag,
    country: region ?? '',
    language,
    locale_key: tag,
  };
};

const readTexts = (content: unknown): Translated => {
  const parsed = translated.safeParse(content);
  if (parsed.success) return parsed.data;
  throw new HttpError(400, 'The draft is invalid: open it in the Studio to see what to fix');
};

const findVariant = ({ variants }: Translated, variantId: string): TranslatedVariant => {
  const found = variants.find((variant) => variant.variant_id === variantId);
  if (!found) throw new HttpError(404, 'Invalid message_variation_id');
  return found;
};

interface Version {
  campaign_id: string;
  message_variation_id: string;
  post_launch_draft_version: boolean;
}

/** Returns a variant of the live campaign. If `post_launch_draft_version` is set or there is no live one, reads the draft. */
const readVariant = async (
  { workspace, store }: Pick<RouteContext, 'workspace' | 'store'>,
  { campaign_id: campaignId, message_variation_id: variantId, post_launch_draft_version: isDraft }: Version,
): Promise<TranslatedVariant> => {
  const live = workspace.rawCampaigns.find((each) => each['campaign_id'] === campaignId);
  const content =
    live && !isDraft ? live : (await store.studio.draft(workspace.workspaceId, campaignId))?.campaign;
  if (content === undefined) throw new HttpError(404, live ? 'Campaign has no draft' : 'Invalid campaign_id');
  return findVariant(readTexts(content), variantId);
};

/** Returns the texts of a variant that can be translated. */
const getSourceTexts = ({ properties }: TranslatedVariant): Record<string, string> =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, { type, value }]) =>
      (type === 'string' || type === 'image') && typeof value === 'string' && value !== ''
        ? [[name, value]]
        : [],
    ),
  );

export const campaignTranslations = defineRoute({
  ...REPORT,
  path: '/campaigns/translations',
  permission: 'campaigns.translations.get',
  query: z.object({
    campaign_id: id('campaign_id'),
    message_variation_id: variationId,
    locale_id: z.optional(z.string().check(described('Only this locale: UUID, or language tag.'))),
    post_launch_draft_version: draftFlag,
  }),
  operation: {
    id: 'getCampaignTranslations',
    tag: 'Campaigns',
    summary: 'Get the translations of a variant',
    description: 'Texts by locale and property. A property without a translation is left out.',
    badRequest: 'A parameter is missing, or the draft is invalid.',
    notFound: 'The campaign, its draft, the variant or the locale is unknown.',
  },
  response: {
    status: 200,
    schema: z.object({
      translations: z
        .array(
          z.object({
            translation_map: translationMap,
            locale: z
              .object({
                uuid: z.string().check(described('ID, derived from the language tag.')),
                name: z.string().check(described('English name.')),
                country: z.string().check(described("Region, such as `BR`; `''` if none.")),
                language: z.string().check(described('Language, such as `pt`.')),
                locale_key: z.string().check(described('Language tag, such as `pt-BR`.')),
              })
              .check(described('Language.')),
          }),
        )
        .check(described('One entry a locale.')),
      message,
    }),
  },
  async handler(context) {
    const { query } = context;
    const { translations } = await readVariant(context, query);
    const all = Object.entries(translations ?? {}).map(([tag, texts]) => ({
      translation_map: texts,
      locale: toLocale(tag),
    }));
    const wanted = query.locale_id;
    const found = all.filter(
      ({ locale }) => wanted === undefined || locale.uuid === wanted || locale.locale_key === wanted,
    );
    if (wanted !== undefined && found.length === 0) throw new HttpError(404, 'Invalid locale_id');
    return { body: { translations: found, message: 'success' } };
  },
});

export const campaignTranslationsSource = defineRoute({
  ...REPORT,
  path: '/campaigns/translations/source',
  permission: 'campaigns.translations.get',
  query: z.object({
    campaign_id: id('campaign_id'),
    message_variation_id: variationId,
    post_launch_draft_version: draftFlag,
  }),
  operation: {
    id: 'getCampaignTranslationSource',
    tag: 'Campaigns',
    summary: 'Get the texts of a variant to translate',
    description: 'Texts and images by property, in the language of the campaign.',
    badRequest: 'A parameter is missing, or the draft is invalid.',
    notFound: 'The campaign, its draft or the variant is unknown.',
  },
  response: {
    status: 200,
    schema: z.object({
      translations: z.object({ translation_map: translationMap }).check(described('Source texts.')),
      message,
    }),
  },
  async handler(context) {
    const source = getSourceTexts(await readVariant(context, context.query));
    return { body: { translations: { translation_map: source }, message: 'success' } };
  },
});

const updateRequest = z.object({
  campaign_id: id('campaign_id'),
  message_variation_id: variationId,
  locale_id: z
    .string("'locale_id' is required")
    .check(described('UUID of a locale of the campaign, or a language tag, which may be new.')),
  translation_map: translationMap,
});

/** Returns the language of a `locale_id`: one of the campaign, or a tag. */
const findLanguage = ({ variants }: Translated, localeId: string): string => {
  const languages = new Set(variants.flatMap(({ translations }) => Object.keys(translations ?? {})));
  const existing = [...languages].find((tag) => getLocaleId(tag) === localeId);
  if (existing !== undefined) return existing;
  if (!isLanguageTag(localeId)) throw new HttpError(404, 'Invalid locale_id');
  if (!languages.has(localeId) && languages.size >= MAX_LANGUAGES)
    throw new HttpError(400, `A campaign can have at most ${MAX_LANGUAGES} languages beside its own`);
  return localeId;
};

/** Returns the campaign with the texts. An empty text removes a translation. */
const applyTexts = (
  content: unknown,
  {
    message_variation_id: variantId,
    locale_id: localeId,
    translation_map: texts,
  }: z.infer<typeof updateRequest>,
): Translated => {
  const campaign = readTexts(content);
  const variant = findVariant(campaign, variantId);
  const language = findLanguage(campaign, localeId);
  if (campaign.language == null)
    throw new HttpError(400, "The campaign has no 'language': set the language of its texts in the Studio");
  if (campaign.language === language)
    throw new HttpError(400, `'${language}' is the language of the campaign: change its texts in the Studio`);
  const source = getSourceTexts(variant);
  const unknown = Object.keys(texts).find((name) => !Object.hasOwn(source, name));
  if (unknown !== undefined)
    throw new HttpError(400, `'translation_map.${unknown}': the variant has no text with this name`);
  const merged = { ...variant.translations?.[language], ...texts };
  const kept = Object.fromEntries(Object.entries(merged).filter(([, text]) => text !== ''));
  const changed = { ...variant, translations: { ...variant.translations, [language]: kept } };
  return { ...campaign, variants: campaign.variants.map((each) => (each === variant ? changed : each)) };
};

export const updateCampaignTranslations = defineRoute({
  method: 'PUT',
  path: '/campaigns/translations',
  permission: 'campaigns.translations.update',
  limit: 'reports',
  body: serverBody(schemaReader(updateRequest), { maxBytes: MAX_BODY_BYTES, maxValues: 20_000 }),
  response: { status: 200, schema: z.object({ message }) },
  writes: true,
  operation: {
    id: 'updateCampaignTranslations',
    tag: 'Campaigns',
    summary: 'Translate a draft',
    description:
      'Writes texts of one locale to the draft of the campaign. Texts that are not sent stay; an empty text removes the translation. The change is live once an operator publishes the draft.',
    example: {
      campaign_id: 'c1',
      message_variation_id: 'a',
      locale_id: 'de',
      translation_map: { headline: 'Hallo' },
    },
    badRequest:
      'A member is missing or invalid, the campaign has no draft or no language, or the variant has no text of that name.',
    notFound: 'The variant or the locale is unknown.',
  },
  async handler({ workspace: { workspaceId }, store: { studio }, key, body, now, metrics }) {
    const { campaign_id: campaignId } = body;
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      const draft = await studio.draft(workspaceId, campaignId);
      if (!draft) throw new HttpError(400, 'Campaign has no draft: edit it in the Studio first');
      const campaign = applyTexts(draft.campaign, body);
      const bytes = Buffer.byteLength(JSON.stringify(campaign));
      if ((await studio.otherDraftBytes(workspaceId, campaignId)) + bytes > MAX_DRAFTS_BYTES)
        throw new HttpError(413, DRAFTS_TOO_LARGE);
      const revision = createRevision();
      const saved = { ...draft, campaign, revision, editor: key.name, updatedAtMs: now };
      if (!(await studio.saveDraft(saved, draft.revision))) continue;
      metrics.objects('translations', Object.keys(body.translation_map).length);
      return { body: { message: 'success' } };
    }
    throw new HttpError(503, ERROR_MESSAGES.unavailable);
  },
});
