// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import { expect, test } from 'vitest';
import { readCampaign } from '../../../src/service/workspace/read-campaign.ts';
import { aCampaign, aVariant } from '../../helpers/a-workspace.ts';

const getProblems = (translations: unknown, campaign: Record<string, unknown> = { language: 'en' }) => {
  const variant = aVariant({
    properties: { headline: { type: 'string', value: 'Hello' }, count: { type: 'number', value: 3 } },
    translations,
  });
  const { problems } = readCampaign(aCampaign({ ...campaign, variants: [variant] }), {});
  return problems.map(({ path, message }) => `${path.join('.')}: ${message}`);
};

test('accepts valid translations', () => {
  expect(getProblems({ de: { headline: 'Hallo {{${first_name} | default: "du"}}' }, 'pt-BR': {} })).toEqual(
    [],
  );
});

test('reports each problem of a translation with its path', () => {
  expect(getProblems({ de: { headlin: 'Hallo' } })).toEqual([
    "variants.0.translations.de.headlin: expected a property of the variant, of the type 'string' or 'image'",
  ]);
  expect(getProblems({ de: { count: '4' } })[0]).toMatch(/^variants\.0\.translations\.de\.count: /);
  expect(getProblems({ de: { headline: '{{ nope' } })[0]).toMatch(
    /^variants\.0\.translations\.de\.headline: expected a Liquid template, got one that fails/,
  );
  expect(getProblems({ en: { headline: 'Hello' } })).toEqual([
    "variants.0.translations.en: expected another language than the campaign's own",
  ]);
  expect(getProblems({ de: { headline: 'Hallo' } }, {})).toEqual([
    "variants.0.translations.de: expected the campaign's 'language' beside translations",
  ]);
});

test('normalizes the spelling of a language', () => {
  for (const language of ['pt-br', 'german', 'DE', 'de_DE', '']) {
    expect(getProblems({}, { language })[0]).toMatch(/^language: expected a language as BCP 47 writes it/);
    expect(getProblems({ [language]: {} })[0], language).toMatch(
      /translations.*expected a language as BCP 47 writes it/,
    );
  }
});

test('counts translations toward the size of a campaign’s templates', () => {
  const long = `{{${'${first_name}'}}}${'x'.repeat(8_000)}`;
  expect(getProblems({ de: { headline: long }, fr: { headline: long } })[0]).toMatch(
    /expected at most 15000 characters in all texts/,
  );
});
