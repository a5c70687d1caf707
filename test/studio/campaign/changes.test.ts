import { describe, expect, test } from 'vitest';
import type { CampaignText } from '../../../src/studio/campaign/campaign-text.ts';
import { campaignChanges } from '../../../src/studio/campaign/changes.ts';

const aCampaign = (changes: Partial<CampaignText> = {}): CampaignText => ({
  campaign_id: 'sale',
  name: 'Sale',
  status: 'active',
  placements: ['home_hero'],
  variants: [{ variant_id: 'a', name: 'A', properties: { headline: { type: 'string', value: 'Sale' } } }],
  ...changes,
});

describe('what is different between two campaigns', () => {
  test('is nothing of the same one', () => {
    expect(campaignChanges(aCampaign(), aCampaign())).toEqual([]);
  });

  test('has the names that people use', () => {
    const after = aCampaign({
      name: 'Big sale',
      control_percentage: 10,
      audience: { tier: 'gold' },
      reeligible_after_hours: 24,
    });
    expect(campaignChanges(aCampaign(), after)).toEqual([
      { label: 'Name', before: 'Sale', after: 'Big sale' },
      { label: 'Control group', before: '', after: '10 %' },
      { label: 'Audience', before: 'Everyone.', after: 'People of whom this is true: tier is gold.' },
      { label: 'Shown again after a dismissal', before: 'never', after: '24 hours' },
    ]);
  });

  test('names the variant that a text is of', () => {
    const after = aCampaign({
      variants: [
        {
          variant_id: 'a',
          name: 'A',
          weight: 3,
          properties: { headline: { type: 'string', value: 'Last days' } },
        },
      ],
    });
    expect(campaignChanges(aCampaign(), after)).toEqual([
      { label: 'A · Share', before: '', after: '3' },
      { label: 'A · Headline', before: 'Sale', after: 'Last days' },
    ]);
  });

  test('says which variants came and went', () => {
    const after = aCampaign({
      variants: [{ variant_id: 'b', name: 'B', properties: { headline: { type: 'string', value: 'New' } } }],
    });
    expect(campaignChanges(aCampaign(), after)).toEqual([
      { label: 'Variant', before: 'A', after: '' },
      { label: 'Variant', before: '', after: 'B' },
      { label: 'B · Headline', before: '', after: 'New' },
    ]);
  });

  test('shows the filter itself where an audience has other rules and the same words', () => {
    const [change] = campaignChanges(
      aCampaign({ audience: { 'custom_attributes.tier': 'gold' } }),
      aCampaign({ audience: { tier: 'gold' } }),
    );
    expect(change).toEqual({
      label: 'Audience',
      before: '{"custom_attributes.tier":"gold"}',
      after: '{"tier":"gold"}',
    });
  });

  test('is everything of one that was not there, and of one that goes', () => {
    expect(campaignChanges(null, aCampaign()).map(({ label }) => label)).toEqual([
      'Name',
      'Status',
      'Placements',
      'Variant',
      'A · Headline',
    ]);
    expect(campaignChanges(aCampaign(), null)).toContainEqual({ label: 'Variant', before: 'A', after: '' });
  });
});
