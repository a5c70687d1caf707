import type { WriteProperties } from './personalise.ts';

/** What a banner says, by language. */
interface Translated {
  properties: WriteProperties;
  translations: ReadonlyMap<string, WriteProperties>;
}

/** A longer header is no browser's. */
const MAX_HEADER_CHARACTERS = 500;

/** The languages of an `Accept-Language` header (RFC 9110, 12.5.4), the best first. What is no language of it is passed over. */
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
 * The languages that a user reads, the best first. The profile's `language` decides, as the host has set it on purpose; without
 * one it is the browser's `Accept-Language`, which every sync of a page has. So the wire is the same with languages and without.
 */
export const languagesOf = (profileLanguage: unknown, acceptLanguage: string): string[] =>
  typeof profileLanguage === 'string' ? [profileLanguage] : accepted(acceptLanguage);

/** The length that RFC 5646, 4.4.1 asks for: a longer tag would cost the square of its length. */
const MAX_TAG_CHARACTERS = 35;

/** `pt-BR`, then `pt` (RFC 4647, 3.4), in lower case. Profiles may have `pt_BR`. A tag is cut after 35 characters. */
export const fallbacks = (tag: string): string[] => {
  const parts = tag.slice(0, MAX_TAG_CHARACTERS).toLowerCase().split(/[-_]/);
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('-'));
};

/** The language in which a user gets a banner: the campaign's own where it has none of theirs; `null` where it names none. */
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

/** What a variant says in a language that was chosen for it. */
export const propertiesIn = (
  { properties, translations }: Translated,
  language: string | null,
): WriteProperties => (language === null ? undefined : translations.get(language)) ?? properties;
