import { parse } from 'csv-parse/sync';
import { js2xliff, jsToXliff12, xliff2js, xliff12ToJs } from 'xliff';
import * as z from 'zod';
import { csvCell, HttpError, textOfCell } from '../../../service/index.ts';
import type { CampaignText } from '../../campaign/campaign-text.ts';
import { languageTag, otherLanguages, translatable, translate } from '../../campaign/translations.ts';
import { bodyOf, defineRoute } from '../route.ts';

/** As much of a draft as its texts can be taken from, whatever else is wrong with it. */
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

/** Texts of a file: by variant and property, in the campaign's own language as it was then, and in others. */
interface FileText {
  variantId: string;
  name: string;
  source: string | null;
  texts: { language: string; text: string }[];
}

const textsOf = ({ variants }: CampaignText): Omit<FileText, 'texts'>[] =>
  variants.flatMap((variant) =>
    translatable(variant).map(({ name }) => ({
      variantId: variant.variant_id,
      name,
      source: String(variant.properties[name]!.value),
    })),
  );

const textIn = ({ variants }: CampaignText, { variantId, name }: Omit<FileText, 'texts'>, language: string) =>
  variants.find(({ variant_id }) => variant_id === variantId)?.translations?.[language]?.[name] ?? '';

/** With a byte order mark, without which Excel takes the letters for others. */
const writeCsv = (campaign: CampaignText): string => {
  const languages = otherLanguages(campaign);
  const rows = textsOf(campaign).map((each) => [
    each.variantId,
    each.name,
    each.source ?? '',
    ...languages.map((language) => textIn(campaign, each, language)),
  ]);
  const heads = ['variant', 'property', campaign.language!, ...languages];
  return `\ufeff${[heads, ...rows].map((row) => `${row.map(csvCell).join(',')}\r\n`).join('')}`;
};

const writeXliff = (
  campaign: CampaignText,
  language: string,
  version: 'xliff1' | 'xliff2',
): Promise<string> => {
  const units = textsOf(campaign).map((each) => {
    const target = textIn(campaign, each, language);
    return [`${each.variantId}/${each.name}`, { source: each.source, ...(target !== '' && { target }) }];
  });
  const content = {
    resources: { [campaign.campaign_id]: Object.fromEntries(units) },
    sourceLanguage: campaign.language!,
    targetLanguage: language,
  };
  return version === 'xliff1' ? jsToXliff12(content) : js2xliff(content);
};

/** Spreadsheets write the separator of their country. */
const separatorOf = (text: string): string => /^\ufeff?"?variant"?([,;\t])/.exec(text)?.[1] ?? ',';

const readCsv = (text: string, own: string): FileText[] => {
  let rows: Record<string, string>[];
  try {
    rows = parse(text, { bom: true, columns: true, delimiter: separatorOf(text), skip_empty_lines: true });
  } catch (error) {
    throw new HttpError(400, `The file cannot be read as CSV: ${(error as Error).message}`);
  }
  const heads = Object.keys(rows[0] ?? {});
  for (const needed of ['variant', 'property']) {
    if (!heads.includes(needed))
      throw new HttpError(400, `The file has no column "${needed}" in its first line`);
  }
  const languages = heads.filter((head) => !['variant', 'property', own].includes(head));
  const unknown = languages.find((head) => languageTag(head) !== head);
  if (unknown !== undefined)
    throw new HttpError(400, `The column "${unknown}" is no language, such as de or pt-BR`);
  return rows.map((row) => ({
    variantId: row['variant']!,
    name: row['property']!,
    source: row[own] === undefined ? null : textOfCell(row[own]),
    texts: languages.map((language) => ({ language, text: textOfCell(row[language]!) })),
  }));
};

const readXliff = async (text: string): Promise<FileText[]> => {
  // The format has no use for these, and an entity may be written a billion times.
  if (/<!DOCTYPE/i.test(text)) throw new HttpError(400, 'The file has a document type, which is not read');
  const read = /<xliff[^>]*\bversion\s*=\s*["']2/.test(text) ? xliff2js : xliff12ToJs;
  const content = await read(text).catch(() => {
    // What the parser says is about its own insides.
    throw new HttpError(400, 'The file cannot be read as XLIFF 1.2 or 2.0');
  });
  const language = languageTag(content.targetLanguage ?? '');
  if (language === null)
    throw new HttpError(400, 'The file does not name the language that it translates into');
  return Object.values(content.resources).flatMap((units) =>
    Object.entries(units).map(([id, { source, target }]) => {
      const at = id.lastIndexOf('/');
      return {
        variantId: id.slice(0, at),
        name: id.slice(at + 1),
        source: typeof source === 'string' ? source : null,
        // With inline codes it is a list: what they stood for is not known here.
        texts: typeof target === 'string' ? [{ language, text: target }] : [],
      };
    }),
  );
};

const exportBody = z.strictObject({
  campaign: translated,
  format: z.enum(['csv', 'xliff1', 'xliff2']),
  /** Of an XLIFF file, which has one. */
  language: z.string(),
});

export interface TranslationFile {
  text: string;
}

/** The texts of a draft as a file for translators. */
export const exportTranslations = defineRoute({
  method: 'POST',
  path: '/api/translations/export',
  role: 'view',
  request: bodyOf(exportBody),
  answer: async ({ body }) => {
    const { campaign, format, language } = body;
    const draft = campaign as unknown as CampaignText;
    const text = format === 'csv' ? writeCsv(draft) : await writeXliff(draft, language, format);
    return { status: 200, body: { text } satisfies TranslationFile };
  },
});

const importBody = z.strictObject({ campaign: translated, text: z.string() });

export interface TranslatedDraft {
  campaign: CampaignText;
  taken: number;
  /** What was not taken, or was translated from another text, as sentences. */
  notes: string[];
}

/** A draft with what translators have written: nothing is stored, the page saves it as any other change. */
export const importTranslations = defineRoute({
  method: 'POST',
  path: '/api/translations/import',
  role: 'edit',
  request: bodyOf(importBody),
  answer: async ({ body }) => {
    const { campaign, text } = body;
    const draft = campaign as unknown as CampaignText;
    const found = /^\ufeff?\s*</.test(text) ? await readXliff(text) : readCsv(text, campaign.language);
    const notes: string[] = [];
    let taken = 0;
    let variants = draft.variants;
    for (const { variantId, name, source, texts } of found) {
      const variant = variants.find(({ variant_id }) => variant_id === variantId);
      if (!variant || !translatable(variant).some((each) => each.name === name)) {
        notes.push(`There is no text “${name}” in a variant “${variantId}”: passed over.`);
        continue;
      }
      const written = texts.filter((each) => each.text.trim() !== '' && each.language !== campaign.language);
      if (written.length > 0 && source !== null && source !== variant.properties[name]!.value) {
        notes.push(`“${name}” of “${variantId}” was translated from another text than it has now.`);
      }
      taken += written.length;
      const after = written.reduce(
        (so_far, each) => translate(so_far, each.language, name, each.text),
        variant,
      );
      variants = variants.map((each) => (each === variant ? after : each));
    }
    const answer: TranslatedDraft = { campaign: { ...draft, variants }, taken, notes };
    return { status: 200, body: answer };
  },
});
