import type { RenderProperties } from './personalise.ts';

/** Banner texts by language. */
interface Translated {
  properties: RenderProperties;
  translations: ReadonlyMap<string, RenderProperties>;
}

/** Maximum length of the header. Browsers send shorter headers. */
const MAX_HEADER_CHARACTERS = 500;

/**
 * Returns the languages of an `Accept-Language` header (RFC 9110, 12.5.4) in descending order of preference. Skips invalid
 * entries.
 */
const accepted = (header: string): string[] =>
  header
    .slice(0, MAX_HEADER_CHARACTERS)
    .split(',')
    .flatMap((range) => {
      const [tag = '', ...parameters] = range.split(';').map((part) => part.trim());
      const weight = parameters.find((each) => each.startsWith('q='));
      const quality = weight === undefined ? 1 : Number(weight.slice(2));
      return /^[A-Za-z]/.test(tag) && quality > 0 ? [{ tag, quality }] : [];
    })
    .sort((one, other) => other.quality - one.quality)
    .map(({ tag }) => tag);

/**
 * Returns a user's languages in descending order of preference. The profile's `language` takes precedence, because the host sets
 * it explicitly. The fallback is the browser's `Accept-Language`, which every sync sends, so the protocol needs no language
 * field.
 */
export const getLanguages = (profileLanguage: unknown, acceptLanguage: string): string[] =>
  typeof profileLanguage === 'string' ? [profileLanguage] : accepted(acceptLanguage);

/** Minimum length that RFC 5646, 4.4.1 requires. The cost is quadratic in the length of a tag. */
const MAX_TAG_CHARACTERS = 35;

/**
 * Returns the fallback chain of a tag in lower case, for example `pt-br`, `pt` (RFC 4647, 3.4). Accepts `pt_BR`, which profiles
 * may have. Truncates tags to 35 characters.
 */
export const fallbacks = (tag: string): string[] => {
  const parts = tag.slice(0, MAX_TAG_CHARACTERS).toLowerCase().split(/[-_]/);
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('-'));
};

/** Returns the language of a user's banner. Default: the campaign's language; `null` if it has none. */
export const languageFor = (
  { language }: { language: string | null },
  { translations }: Pick<Translated, 'translations'>,
  wanted: readonly string[],
): string | null => {
  if (language === null) return null;
  const known = new Map([language, ...translations.keys()].map((each) => [each.toLowerCase(), each]));
  for (const tag of wanted.flatMap(fallbacks)) {
    const found = known.get(tag);
    if (found !== undefined) return found;
  }
  return language;
};

/** Returns a variant's properties in the selected language. */
export const localizeProperties = (
  { properties, translations }: Translated,
  language: string | null,
): RenderProperties => (language === null ? undefined : translations.get(language)) ?? properties;
