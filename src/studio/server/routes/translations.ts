import { parse } from 'csv-parse/sync';
import { js2xliff, jsToXliff12, xliff2js, xliff12ToJs } from 'xliff';
import * as z from 'zod';
import { MAX_LANGUAGES } from '../../../protocol/index.ts';
import { HttpError, parseCsvCell } from '../../../service/index.ts';
import { type CampaignJson, toCampaignJson } from '../../campaign/campaign-json.ts';
import {
  languageTag,
  otherLanguages,
  TOO_MANY_LANGUAGES,
  translatable,
} from '../../campaign/translations.ts';
import { formatCsv, post, type ResponseOf } from '../route.ts';

/** Parts of a draft that contain texts. They can be read even if the rest is invalid. */
const translated = z.looseObject({
  campaign_id: z.string(),
  language: z.string(),
  variants: z.array(
    z.looseObject({
      variant_id: z.string(),
      properties: z.record(z.string(), z.looseObject({ type: z.string(), value: z.unknown() })),
      translations: z.record(z.string(), z.record(z.string(), z.string())).nullish(),
    }),
  ),
});

/** Text of a file: a property of a variant with the source text at export and its translations. */
interface FileText {
  variantId: string;
  name: string;
  source: string | null;
  texts: { language: string; text: string }[];
  /** Whether the translation has inline codes, whose content is unknown. */
  hasCodes?: boolean;
}

/** Returns the profile attributes that the Liquid of a text uses, such as `${first_name}`. */
const getVariables = (text: string): string[] => [...new Set(text.match(/\$\{[^}]*\}/g))];

const getSourceTexts = ({ variants }: CampaignJson): Omit<FileText, 'texts'>[] =>
  variants.flatMap((variant) =>
    translatable(variant).map(({ name }) => ({
      variantId: variant.variant_id,
      name,
      source: String(variant.properties[name]!.value),
    })),
  );

const readText = (
  { variants }: CampaignJson,
  { variantId, name }: Omit<FileText, 'texts'>,
  language: string,
) => variants.find(({ variant_id }) => variant_id === variantId)?.translations?.[language]?.[name] ?? '';

/** Writes CSV with a byte order mark, because Excel needs it to detect UTF-8. */
const writeCsv = (campaign: CampaignJson): string => {
  const languages = otherLanguages(campaign);
  const rows = getSourceTexts(campaign).map((each) => [
    each.variantId,
    each.name,
    each.source ?? '',
    ...languages.map((language) => readText(campaign, each, language)),
  ]);
  const heads = ['variant', 'property', campaign.language!, ...languages];
  return `\ufeff${formatCsv([heads, ...rows])}`;
};

const writeXliff = (
  campaign: CampaignJson,
  language: string,
  version: 'xliff1' | 'xliff2',
): Promise<string> => {
  const units = getSourceTexts(campaign).map((each) => {
    const target = readText(campaign, each, language);
    return [`${each.variantId}/${each.name}`, { source: each.source, ...(target !== '' && { target }) }];
  });
  const content = {
    resources: { [campaign.campaign_id]: Object.fromEntries(units) },
    sourceLanguage: campaign.language!,
    targetLanguage: language,
  };
  return version === 'xliff1' ? jsToXliff12(content) : js2xliff(content);
};

/** Detects the separator, because spreadsheets use the separator of their locale. */
const getSeparator = (text: string): string => /^\ufeff?"?variant"?([,;\t])/.exec(text)?.[1] ?? ',';

const readCsv = (text: string, own: string): FileText[] => {
  let rows: Record<string, string>[];
  try {
    rows = parse(text, { bom: true, columns: true, delimiter: getSeparator(text), skip_empty_lines: true });
  } catch (error) {
    throw new HttpError(
      400,
      `The file cannot be read as CSV: ${error instanceof Error ? error.message : error}`,
    );
  }
  const heads = Object.keys(rows[0] ?? {});
  for (const needed of ['variant', 'property']) {
    if (!heads.includes(needed))
      throw new HttpError(400, `The file has no column "${needed}" in its first line`);
  }
  const languages = heads.filter((head) => !['variant', 'property', own].includes(head));
  if (languages.length > MAX_LANGUAGES) throw new HttpError(422, TOO_MANY_LANGUAGES);
  const unknown = languages.find((head) => languageTag(head) !== head);
  if (unknown !== undefined)
    throw new HttpError(400, `Column "${unknown}": expected a language, such as de or pt-BR`);
  return rows.map((row) => ({
    variantId: row['variant']!,
    name: row['property']!,
    source: row[own] === undefined ? null : parseCsvCell(row[own]),
    texts: languages.map((language) => ({ language, text: parseCsvCell(row[language]!) })),
  }));
};

/** Returns the content of the first `xliff` element. */
const rootIn = (text: string): string => {
  const from = text.indexOf('<xliff');
  return from < 0 ? '' : text.slice(from, text.indexOf('>', from) + 1);
};

const readXliff = async (text: string, campaignId: string): Promise<FileText[]> => {
  // Rejects a DTD to prevent entity expansion. XLIFF does not need one.
  if (/<!DOCTYPE/i.test(text)) throw new HttpError(400, 'The file must not have a DOCTYPE');
  const root = rootIn(text);
  if (root === '' || text.lastIndexOf('<xliff') !== text.indexOf('<xliff'))
    throw new HttpError(400, 'The file is not XLIFF 1.2 or 2.0');
  // The parser accepts truncated files.
  if (!text.trimEnd().endsWith('</xliff>'))
    throw new HttpError(400, 'The file is truncated: </xliff> is missing. Export it again.');
  const read = /\bversion\s*=\s*["']2/.test(root) ? xliff2js : xliff12ToJs;
  const content = await read(text).catch(() => {
    // Omits the parser's message, because it describes internals.
    throw new HttpError(400, 'The file cannot be read as XLIFF 1.2 or 2.0');
  });
  const language = languageTag(content.targetLanguage ?? '');
  if (language === null) throw new HttpError(400, 'The file has no target language');
  const other = Object.keys(content.resources).find((id) => id !== campaignId);
  if (other !== undefined) {
    throw new HttpError(422, `Expected campaign “${campaignId}”, got “${other}”`);
  }
  return Object.values(content.resources).flatMap((units) =>
    Object.entries(units).map(([id, { source, target }]) => {
      const at = id.lastIndexOf('/');
      return {
        variantId: id.slice(0, at),
        name: id.slice(at + 1),
        source: typeof source === 'string' ? source : null,
        texts: typeof target === 'string' ? [{ language, text: target }] : [],
        // The parser returns a text with inline codes as an array.
        hasCodes: Array.isArray(target),
      };
    }),
  );
};

const exportBody = z.strictObject({
  campaign: translated,
  format: z.enum(['csv', 'xliff1', 'xliff2']),
  /** Target language of an XLIFF file. */
  language: z.string(),
});

/** Exports the texts of a draft for translators. */
export const exportTranslations = post('/api/translations/export', 'view', exportBody, async ({ body }) => {
  const { campaign, format, language } = body;
  const draft = toCampaignJson(campaign)!;
  if (otherLanguages(draft).length > MAX_LANGUAGES) throw new HttpError(422, TOO_MANY_LANGUAGES);
  const text = format === 'csv' ? writeCsv(draft) : await writeXliff(draft, language, format);
  return { text };
});
export type TranslationFile = ResponseOf<typeof exportTranslations>;

/** Maximum notes of an import. */
const MAX_NOTES = 50;

const importBody = z.strictObject({ campaign: translated, text: z.string() });

/**
 * Returns the draft with imported translations, their number, and notes about skipped and outdated texts. Does not store it, because the page saves it like any other change.
 */
export const importTranslations = post('/api/translations/import', 'edit', importBody, async ({ body }) => {
  const { campaign, text } = body;
  const draft = toCampaignJson(campaign)!;
  const found = /^\ufeff?\s*</.test(text)
    ? await readXliff(text, campaign.campaign_id)
    : readCsv(text, campaign.language);
  const notes = new Set<string>();
  const translations = new Map(
    draft.variants.map((variant) => [variant.variant_id, structuredClone(variant.translations ?? {})]),
  );
  const texts = new Map(
    getSourceTexts(draft).map(({ variantId, name, source }) => [JSON.stringify([variantId, name]), source]),
  );
  const languages = new Set(otherLanguages(draft));
  let taken = 0;
  const note = (message: string) => notes.size < MAX_NOTES && notes.add(message);
  for (const { variantId, name, source, texts: read, hasCodes } of found) {
    const own = texts.get(JSON.stringify([variantId, name]));
    if (own == null) {
      note(`No text “${name}” in variant “${variantId}”: skipped.`);
      continue;
    }
    if (hasCodes) note(`“${name}” of “${variantId}” has inline codes instead of plain text: skipped.`);
    const written = read.filter((each) => each.text.trim() !== '' && each.language !== campaign.language);
    if (written.length > 0 && source !== null && source !== own)
      note(`“${name}” of “${variantId}” was translated from an older text.`);
    const ofVariant = translations.get(variantId)!;
    for (const { language, text: translation } of written) {
      languages.add(language);
      const lost = getVariables(source ?? own).filter((variable) => !translation.includes(variable));
      if (lost.length > 0) note(`“${name}” of “${variantId}” lacks ${lost.join(', ')} in ${language}.`);
      ofVariant[language] = { ...ofVariant[language], [name]: translation };
    }
    taken += written.length;
  }
  if (languages.size > MAX_LANGUAGES) throw new HttpError(422, TOO_MANY_LANGUAGES);
  const variants = draft.variants.map((variant) => {
    const own = translations.get(variant.variant_id)!;
    return Object.keys(own).length > 0 ? { ...variant, translations: own } : variant;
  });
  return { campaign: { ...draft, variants }, taken, notes: [...notes] };
});
export type TranslatedDraft = ResponseOf<typeof importTranslations>;
