import { describe, expect, test } from 'vitest';
import type { CampaignJson } from '../../../src/studio/campaign/campaign-json.ts';
import { campaignChanges } from '../../../src/studio/campaign/changes.ts';
import {
  addLanguage,
  isRightToLeft,
  languageName,
  languageTag,
  missingIn,
  otherLanguages,
  removeLanguage,
  translate,
} from '../../../src/studio/campaign/translations.ts';

const text = (value: string) => ({ type: 'string' as const, value });
const CAMPAIGN: CampaignJson = {
  campaign_id: 'cups',
  status: 'active',
  placements: ['home'],
  variants: [{ variant_id: 'a', properties: { headline: text('Cups'), body: text(' '), link: text('/') } }],
};

describe('languages of a campaign', () => {
  const german = addLanguage(CAMPAIGN, 'en', 'de');

  test('exist without a text, and lack the required texts', () => {
    expect(otherLanguages(german)).toEqual(['de']);
    expect(missingIn(german, 'de')).toEqual([{ variantIndex: 0, name: 'headline' }]);
  });

  test('lack no text that a broader language provides', () => {
    const variants = [translate(addLanguage(german, 'en', 'de-AT').variants[0]!, 'de', 'headline', 'Tassen')];
    expect(missingIn({ variants }, 'de-AT')).toEqual([]);
  });

  test('leave no texts behind when the last language is removed', () => {
    expect(removeLanguage(german, 'de')).toEqual(CAMPAIGN);
    expect(removeLanguage(addLanguage(german, 'en', 'ar'), 'de')).toEqual(addLanguage(CAMPAIGN, 'en', 'ar'));
  });

  test('are listed as changes in the history', () => {
    const variants = [translate(german.variants[0]!, 'de', 'headline', 'Tassen')];
    const naming = {
      placement: (id: string) => id,
      moment: (iso: string) => iso,
      audience: (_: unknown, id: string) => id,
    };
    expect(campaignChanges(CAMPAIGN, { ...german, variants }, naming)).toEqual([
      { label: 'Language', before: '', after: 'English' },
      { label: 'a · German · Headline', before: '', after: 'Tassen' },
    ]);
  });
});

test('normalizes a tag in any spelling', () => {
  expect(['DE', 'pt_br', ' zh-hant '].map(languageTag)).toEqual(['de', 'pt-BR', 'zh-Hant']);
  expect(['', 'german language', 'x', '12'].map(languageTag)).toEqual([null, null, null, null]);
  expect(languageName('pt-BR')).toBe('Brazilian Portuguese');
});

test('detects right-to-left languages', () => {
  expect(['ar', 'he', 'fa', 'ur', 'ps'].every(isRightToLeft)).toBe(true);
  expect(['en', 'de', 'ru', 'az', 'zh-Hans'].some(isRightToLeft)).toBe(false);
});
