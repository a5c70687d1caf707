import { describe, expect, test } from 'vitest';
import type { CampaignJson, VariantJson } from '../../../src/studio/campaign/campaign-json.ts';
import { mergeCampaigns } from '../../../src/studio/campaign/merge-campaigns.ts';

const text = (value: string) => ({ type: 'string' as const, value });
const variant = (
  id: string,
  texts: Record<string, string>,
  more: Partial<VariantJson> = {},
): VariantJson => ({
  variant_id: id,
  properties: Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, text(value)])),
  ...more,
});
const BASE: CampaignJson = {
  campaign_id: 'sale',
  name: 'Sale',
  status: 'active',
  placements: ['home'],
  audience: { tier: 'gold' },
  language: 'en',
  variants: [
    variant('2', { headline: 'Hello', body: 'Body' }, { translations: { de: { headline: 'Hallo' } } }),
    variant('1', { headline: 'Hi' }),
  ],
};
/** The base campaign with a change. */
const changed = (make: (draft: CampaignJson) => void): CampaignJson => {
  const draft = structuredClone(BASE);
  make(draft);
  return draft;
};
const [first] = BASE.variants;

describe('a merge of two drafts', () => {
  test('keeps changes to different parts, in either order', () => {
    const mine = changed((draft) => {
      draft.name = 'Summer sale';
      draft.variants[0]!.properties['headline'] = text('Good morning');
      delete draft.audience;
    });
    const theirs = changed((draft) => {
      draft.priority = 'high';
      draft.variants[0]!.properties['body'] = text('Another body');
      draft.variants[0]!.translations = {
        de: { headline: 'Hallo', body: 'Text' },
        fr: { headline: 'Salut' },
      };
      draft.variants.push(variant('b', { headline: 'New' }));
    });
    const both = changed((draft) => {
      draft.name = 'Summer sale';
      draft.priority = 'high';
      draft.variants[0] = variant(
        '2',
        { headline: 'Good morning', body: 'Another body' },
        { translations: { de: { headline: 'Hallo', body: 'Text' }, fr: { headline: 'Salut' } } },
      );
      draft.variants.push(variant('b', { headline: 'New' }));
      delete draft.audience;
    });
    expect(mergeCampaigns(BASE, mine, theirs)).toEqual(both);
    expect(mergeCampaigns(BASE, theirs, mine)).toEqual(both);
  });

  test('removes parts that one side removed and the other did not change, and keeps the order of variants', () => {
    const mine = changed((draft) => {
      draft.variants.splice(0, 1);
    });
    const theirs = changed((draft) => {
      draft.variants[1]!.weight = 3;
    });
    expect(mergeCampaigns(BASE, mine, theirs)?.variants).toEqual([{ ...BASE.variants[1], weight: 3 }]);
    expect(mergeCampaigns(BASE, BASE, theirs)?.variants.map(({ variant_id }) => variant_id)).toEqual([
      '2',
      '1',
    ]);
  });

  test.each<[string, (draft: CampaignJson) => void, (draft: CampaignJson) => void]>([
    [
      'the same text',
      (draft) => Object.assign(draft.variants[0]!.properties, { headline: text('Mine') }),
      (draft) => Object.assign(draft.variants[0]!.properties, { headline: text('Theirs') }),
    ],
    [
      'an audience, which is one value',
      (draft) => Object.assign(draft, { audience: { tier: 'gold', city: 'Bonn' } }),
      (draft) => Object.assign(draft, { audience: { tier: 'gold', city: 'Berlin' } }),
    ],
    [
      'a variant that the other took out',
      (draft) => Object.assign(draft.variants[0]!, { weight: 2 }),
      (draft) => draft.variants.splice(0, 1),
    ],
    [
      'two variants, of which none would be left',
      (draft) => draft.variants.splice(0, 1),
      (draft) => draft.variants.splice(1, 1),
    ],
    [
      'new variants of one name',
      (draft) => draft.variants.push({ ...first!, variant_id: 'b', weight: 1 }),
      (draft) => draft.variants.push({ ...first!, variant_id: 'b', weight: 2 }),
    ],
  ])('returns null if both changed %s', (_, mine, theirs) => {
    expect(mergeCampaigns(BASE, changed(mine), changed(theirs))).toBeNull();
  });

  test('returns the change if both sides made the same one', () => {
    const same = changed((draft) => {
      draft.name = 'Autumn';
    });
    expect(mergeCampaigns(BASE, same, structuredClone(same))).toEqual(same);
  });
});
