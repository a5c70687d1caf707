import { MAX_LANGUAGES } from '../../protocol/index.ts';
import { TEMPLATE_PROPERTIES } from '../../templates/index.ts';
import type { CampaignJson, VariantJson } from './campaign-json.ts';

const getTranslationKind = (name: string) =>
  TEMPLATE_PROPERTIES.find((each) => each.name === name)?.translation;

const isWritten = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

export const TOO_MANY_LANGUAGES = `A campaign can have at most ${MAX_LANGUAGES} languages beside its own.`;

/** Returns the translatable properties of a variant, required ones first. */
export const translatable = ({ properties }: VariantJson): { name: string; isNeeded: boolean }[] =>
  Object.entries(properties)
    .filter(([name, { type, value }]) => {
      const isOfType = type === 'string' || type === 'image';
      return isOfType && getTranslationKind(name) !== 'never' && isWritten(value);
    })
    .map(([name]) => ({ name, isNeeded: getTranslationKind(name) === 'needed' }))
    .sort((one, other) => Number(other.isNeeded) - Number(one.isNeeded));

/** Returns the languages of the translations, without the campaign's own language. */
export const otherLanguages = ({ variants }: Pick<CampaignJson, 'variants'>): string[] => [
  ...new Set(variants.flatMap(({ translations }) => Object.keys(translations ?? {}))),
];

/** Returns the text in a language or its fallback language; `undefined` if neither has a translation. */
export const findTranslation = (
  { translations }: Pick<VariantJson, 'translations'>,
  language: string,
  name: string,
): string | undefined => {
  const parts = language.split('-');
  for (let length = parts.length; length > 0; length -= 1) {
    const text = translations?.[parts.slice(0, length).join('-')]?.[name];
    if (isWritten(text)) return text;
  }
  return undefined;
};

/** Returns the missing required translations of a language, by variant. */
export const missingIn = (
  { variants }: Pick<CampaignJson, 'variants'>,
  language: string,
): { variantIndex: number; name: string }[] =>
  variants.flatMap((variant, variantIndex) =>
    translatable(variant)
      .filter(({ name, isNeeded }) => isNeeded && findTranslation(variant, language, name) === undefined)
      .map(({ name }) => ({ variantIndex, name })),
  );

const withoutMember = <T>(members: Record<string, T>, name: string): Record<string, T> => {
  const { [name]: _, ...others } = members;
  return others;
};

/** Returns the variant with a translated text. An empty text removes the translation but keeps the language. */
export const translate = (
  variant: VariantJson,
  language: string,
  name: string,
  text: string,
): VariantJson => {
  const before = variant.translations?.[language] ?? {};
  const texts = text === '' ? withoutMember(before, name) : { ...before, [name]: text };
  return { ...variant, translations: { ...variant.translations, [language]: texts } };
};

/** Returns the campaign with an additional language without texts. */
export const addLanguage = (campaign: CampaignJson, own: string, language: string): CampaignJson => ({
  ...campaign,
  language: own,
  variants: campaign.variants.map((variant) => ({
    ...variant,
    translations: { ...variant.translations, [language]: variant.translations?.[language] ?? {} },
  })),
});

/** Returns the campaign without a language and its texts. Removing the last language also removes the campaign's `language`. */
export const removeLanguage = (campaign: CampaignJson, language: string): CampaignJson => {
  const variants = campaign.variants.map(({ translations, ...variant }) => {
    const others = withoutMember(translations ?? {}, language);
    return Object.keys(others).length === 0 ? variant : { ...variant, translations: others };
  });
  if (otherLanguages({ variants }).length > 0) return { ...campaign, variants };
  const { language: _, ...rest } = campaign;
  return { ...rest, variants };
};

/** Returns the canonical BCP 47 tag of the input; `null` if invalid. */
export const languageTag = (typed: string): string | null => {
  try {
    const [tag = ''] = Intl.getCanonicalLocales(typed.trim().replaceAll('_', '-'));
    return /^[a-z]{2,3}(?:-|$)/.test(tag) ? tag : null;
  } catch {
    // `Intl` validates tags only by throwing.
    return null;
  }
};

const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'code' });

/** Returns the English name of a language, such as `Brazilian Portuguese`. */
export const languageName = (tag: string): string => {
  // `Intl.DisplayNames` has no names for tags with extensions, such as `de-x-formal`.
  const { baseName } = new Intl.Locale(tag);
  const name = names.of(baseName) ?? tag;
  return baseName === tag ? name : `${name} (${tag})`;
};

/** Right-to-left scripts. `Intl` returns the default script of a language. */
const RIGHT_TO_LEFT = ['Adlm', 'Arab', 'Hebr', 'Nkoo', 'Rohg', 'Syrc', 'Thaa'];

export const isRightToLeft = (tag: string): boolean =>
  RIGHT_TO_LEFT.includes(new Intl.Locale(tag).maximize().script ?? '');
