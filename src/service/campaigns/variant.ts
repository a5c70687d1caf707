import { createIssue, invalid, type ReportIssue } from '../issues.ts';
import { getErrorMessage } from '../log.ts';
import type { OnClick } from '../users/click-effects.ts';
import type { CampaignFile } from '../workspace/campaign-schema.ts';
import { fallbacks } from './languages.ts';
import { compileProperties, compileProperty, type Property, type RenderProperties } from './personalise.ts';

export interface Variant {
  variantId: string;
  name: string;
  /** Relative share among the campaign's variants. A variant with 0 is never chosen. */
  weight: number;
  cacheTtlSeconds: number | null;
  /** Effect of a click on the user; `null` if none. */
  onClick: OnClick | null;
  /** Properties in the campaign's language. */
  properties: RenderProperties;
  /** Properties in other languages. Each text falls back from `pt-BR` to `pt`, then to the campaign's language. */
  translations: ReadonlyMap<string, RenderProperties>;
  /** Variables printed without a default, such as `${first_name}`. */
  withoutDefault: readonly { property: string; variable: string; language: string | null }[];
}

type VariantFile = CampaignFile['variants'][number];

/** Compiles a variant of a validated campaign. */
export const compileVariant = (
  variant: VariantFile,
  ownLanguage: string | null,
  path: PropertyKey[],
  problem: ReportIssue,
  warning: ReportIssue,
): Variant => {
  const withoutDefault: Variant['withoutDefault'][number][] = [];
  const compileOne = (
    name: string,
    property: VariantFile['properties'][string],
    language: string | null,
  ): Property[] => {
    const here =
      language === null ? [...path, 'properties', name, 'value'] : [...path, 'translations', language, name];
    try {
      const { type, value } = property;
      const renderValue = compileProperty(property, {
        warn: (issue) => warning(here, issue),
        reportMissingDefault: (variable) => void withoutDefault.push({ property: name, variable, language }),
      });
      return [renderValue === null ? { name, type, value } : { name, type, renderValue }];
    } catch (error) {
      problem(here, createIssue('invalid_template', { reason: getErrorMessage(error) }));
      return [];
    }
  };

  const compileTranslation = (language: string, texts: Record<string, string>): Map<string, Property> => {
    const here = [...path, 'translations', language];
    if (ownLanguage === null)
      problem(here, invalid("expected the campaign's 'language' beside translations"));
    if (ownLanguage === language) problem(here, invalid("expected another language than the campaign's own"));
    const compiled = Object.entries(texts).flatMap(([name, value]) => {
      const type = Object.hasOwn(variant.properties, name) ? variant.properties[name]!.type : null;
      if (type === 'string' || type === 'image') return compileOne(name, { type, value }, language);
      problem([...here, name], createIssue('not_a_text_property', {}));
      return [];
    });
    return new Map(compiled.map((property) => [property.name, property]));
  };

  const own = Object.entries(variant.properties).flatMap(([name, property]) =>
    compileOne(name, property, null),
  );
  const translated = new Map(
    Object.entries(variant.translations ?? {})
      .filter(([, texts]) => Object.keys(texts).length > 0)
      .map(([language, texts]) => [language, compileTranslation(language, texts)]),
  );
  /** Adds the language for the `lang` attribute, unless the campaign has a property of the same name. */
  const compileWithLanguage = (properties: readonly Property[], language: string | null): RenderProperties =>
    compileProperties(
      language === null || Object.hasOwn(variant.properties, 'language')
        ? properties
        : [...properties, { name: 'language', type: 'string', value: language }],
    );
  return {
    variantId: variant.variant_id,
    name: variant.name ?? variant.variant_id,
    weight: variant.weight ?? 1,
    cacheTtlSeconds: variant.cache_ttl_seconds ?? null,
    onClick: variant.on_click
      ? { event: variant.on_click.event ?? null, attributes: variant.on_click.attributes ?? {} }
      : null,
    properties: compileWithLanguage(own, ownLanguage),
    translations: new Map(
      [...translated.keys()].map((language) => {
        const nearest = fallbacks(language).flatMap((tag) => {
          const [, texts] = [...translated].find(([each]) => each.toLowerCase() === tag) ?? [];
          return texts ? [texts] : [];
        });
        const texts = own.map(
          (property) => nearest.find((each) => each.has(property.name))?.get(property.name) ?? property,
        );
        return [language, compileWithLanguage(texts, language)];
      }),
    ),
    withoutDefault,
  };
};
