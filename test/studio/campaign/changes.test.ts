import { describe, expect, test } from 'vitest';
import type { CampaignJson } from '../../../src/studio/campaign/campaign-json.ts';
import { campaignChanges as changesWith } from '../../../src/studio/campaign/changes.ts';
import type { Naming } from '../../../src/studio/campaign/describe-fields.ts';

const aCampaign = (changes: Partial<CampaignJson> = {}): CampaignJson => ({
  campaign_id: 'sale',
  name: 'Sale',
  status: 'active',
  placements: ['home_hero'],
  variants: [{ variant_id: 'a', name: 'A', properties: { headline: { type: 'string', value: 'Sale' } } }],
  ...changes,
});

const naming: Naming = {
  placement: (id) => ({ home_hero: 'Home hero', side: 'Side' })[id] ?? id,
  audience: (_: unknown, id: string) => id,
  moment: (iso) => `on ${iso.slice(0, 10)}`,
};
const campaignChanges = (before: CampaignJson | null, after: CampaignJson | null) =>
  changesWith(before, after, naming);

describe('differences between two campaigns', () => {
  test('are empty for the same campaign', () => {
    expect(campaignChanges(aCampaign(), aCampaign())).toEqual([]);
  });

  test('use the labels of the editor', () => {
    const after = aCampaign({
      name: 'Big sale',
      control_percentage: 10,
      audience: { tier: 'gold' },
      reeligible_after_hours: 24,
    });
    expect(campaignChanges(aCampaign(), after)).toEqual([
      { label: 'Name', before: 'Sale', after: 'Big sale' },
      { label: 'Control group', before: '', after: '10%' },
      { label: 'Audience', before: 'Everyone.', after: 'Users who match: tier is gold.' },
      { label: 'Show again after dismissal', before: 'never', after: '24 hours' },
    ]);
  });

  test('contain a label instead of an ID, code or timestamp, if there is one', () => {
    const after = aCampaign({
      status: 'stopped',
      placements: ['home_hero', 'side'],
      priority: 'high',
      ends_at: '2026-03-06T18:00:00Z',
      tags: ['promo', 'spring'],
      frequency: { impressions: { max: 3, days: 7 }, stop_after: { clicks: 1 } },
      conversions: [
        { product: 'teapot', within_hours: 24 },
        { event: 'signed_up', within_hours: 72 },
      ],
      variants: [
        {
          variant_id: 'a',
          name: 'A',
          cache_ttl_seconds: 86_400,
          properties: {
            headline: { type: 'string', value: 'Sale' },
            dismissible: { type: 'boolean', value: false },
          },
        },
      ],
    });
    expect(campaignChanges(aCampaign(), after).map(({ label, after: is }) => [label, is])).toEqual([
      ['Once published', 'Stopped'],
      ['Placements', 'Home hero, Side'],
      ['Priority', 'High'],
      ['End', 'on 2026-03-06'],
      ['Tags', 'promo, spring'],
      ['Frequency cap', 'at most 3 times in 7 days; no more after 1 click'],
      ['Goals', 'buy “teapot” within 1 day; do “signed_up” within 3 days'],
      ['A · Cache for', '1 day'],
      ['A · Dismissible', 'No'],
    ]);
  });

  test('include the variant of a text', () => {
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
      { label: 'A · Weight', before: '', after: '3' },
      { label: 'A · Headline', before: 'Sale', after: 'Last days' },
    ]);
  });

  test('list added and removed variants', () => {
    const after = aCampaign({
      variants: [{ variant_id: 'b', name: 'B', properties: { headline: { type: 'string', value: 'New' } } }],
    });
    expect(campaignChanges(aCampaign(), after)).toEqual([
      { label: 'Variant', before: 'A', after: '' },
      { label: 'Variant', before: '', after: 'B' },
      { label: 'B · Headline', before: '', after: 'New' },
    ]);
  });

  test('show the filter if two audiences have the same description', () => {
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

  test('list all members of an added or removed campaign', () => {
    expect(campaignChanges(null, aCampaign()).map(({ label }) => label)).toEqual([
      'Name',
      'Once published',
      'Placements',
      'Variant',
      'A · Headline',
    ]);
    expect(campaignChanges(aCampaign(), null)).toContainEqual({ label: 'Variant', before: 'A', after: '' });
  });
});
