import { TEMPLATE_PROPERTIES } from '../../templates/index.ts';
import { audienceWords } from './audience-words.ts';
import { type CampaignText, type VariantText, variantName } from './campaign-text.ts';

/** One thing that is different between two campaigns, as people would name it. */
export interface Change {
  label: string;
  /** `''` where it was not there. */
  before: string;
  after: string;
}

const LABELS: Readonly<Record<string, string>> = {
  name: 'Name',
  status: 'Status',
  placements: 'Placements',
  priority: 'Priority',
  starts_at: 'Start',
  ends_at: 'End',
  audience: 'Audience',
  control_percentage: 'Control group',
  reeligible_after_hours: 'Shown again after a dismissal',
  test_users: 'Test users',
  conversions: 'Goals',
  planned_users: 'Planned sample',
  weight: 'Share',
  expires_after_seconds: 'Kept by a page',
};

const labelOf = (name: string): string =>
  TEMPLATE_PROPERTIES.find((each) => each.name === name)?.label ?? LABELS[name] ?? name;

const textOf = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

const wordsOf = (name: string, value: unknown): string => {
  if (name === 'audience') return audienceWords(value as CampaignText['audience']);
  if (name === 'control_percentage') return value ? `${value} %` : '';
  if (name === 'reeligible_after_hours') return typeof value === 'number' ? `${value} hours` : 'never';
  if (name === 'expires_after_seconds') return value ? `${value} seconds` : '';
  return textOf(value);
};

const members = (...objects: object[]): string[] => [
  ...new Set(objects.flatMap((each) => Object.keys(each))),
];

const compare = (before: object, after: object, skipped: readonly string[], where = ''): Change[] =>
  members(before, after).flatMap((name) => {
    if (skipped.includes(name)) return [];
    const [was, is] = [before, after].map((each) => (each as Record<string, unknown>)[name]);
    const [wasWords, isWords] = [wordsOf(name, was), wordsOf(name, is)];
    // An audience may be written in other words that mean the same to a reader: then its JSON is shown.
    const isHidden = wasWords === isWords && textOf(was) !== textOf(is);
    if (wasWords === isWords && !isHidden) return [];
    const label = where + labelOf(name);
    return [
      isHidden
        ? { label, before: textOf(was), after: textOf(is) }
        : { label, before: wasWords, after: isWords },
    ];
  });

const variantChanges = (before: VariantText, after: VariantText): Change[] => {
  const where = `${variantName(after)} · `;
  const values = ({ properties }: VariantText) =>
    Object.fromEntries(Object.entries(properties).map(([name, { value }]) => [name, value]));
  return [
    ...compare(before, after, ['properties', 'variant_id'], where),
    ...compare(values(before), values(after), [], where),
  ];
};

const NOTHING = { properties: {} };

/** Everything that differs, campaign first, then variant by variant. `null` is a campaign that is not there. */
export const campaignChanges = (before: CampaignText | null, after: CampaignText | null): Change[] => {
  const [was, is] = [before ?? {}, after ?? {}];
  const variantsOf = (campaign: CampaignText | null) => campaign?.variants ?? [];
  const find = (campaign: CampaignText | null, id: string) =>
    variantsOf(campaign).find(({ variant_id }) => variant_id === id);
  const ids = [...variantsOf(before), ...variantsOf(after)].map(({ variant_id }) => variant_id);
  return [
    ...compare(was, is, ['variants', 'campaign_id']),
    ...[...new Set(ids)].flatMap((id) => {
      const [old, fresh] = [find(before, id), find(after, id)];
      if (!old && fresh) {
        return [
          { label: 'Variant', before: '', after: variantName(fresh) },
          ...variantChanges({ ...NOTHING, variant_id: id }, fresh).filter(
            ({ label }) => !label.endsWith('· Name'),
          ),
        ];
      }
      if (old && !fresh) return [{ label: 'Variant', before: variantName(old), after: '' }];
      return old && fresh ? variantChanges(old, fresh) : [];
    }),
  ];
};
