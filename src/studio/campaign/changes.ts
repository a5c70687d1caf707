import { type CampaignJson, type VariantJson, variantName } from './campaign-json.ts';
import { formatField, formatFieldValue, getFieldLabel, type Naming } from './describe-fields.ts';
import { languageName, otherLanguages } from './translations.ts';

/** Difference between two campaigns, with a label for operators. */
export interface Change {
  label: string;
  /** Previous value; `''` if not set. */
  before: string;
  after: string;
  /** Whether the value must be shown whole, because a word diff would split it, for example a date. */
  isWhole?: true;
}

const DATES = ['starts_at', 'ends_at'];

const members = (...objects: object[]): string[] => [
  ...new Set(objects.flatMap((each) => Object.keys(each))),
];

interface Compared {
  before: object;
  after: object;
  naming: Naming;
  /** Members to ignore. */
  skipped?: readonly string[];
  /** Prefix of each label. */
  where?: string;
  /** Members that are dates. */
  dates?: readonly string[];
}

const compare = ({ before, after, naming, skipped = [], where = '', dates = DATES }: Compared): Change[] =>
  members(before, after).flatMap((name) => {
    if (skipped.includes(name)) return [];
    const [was, is] = [before, after].map((each): unknown => Reflect.get(each, name));
    const [wasWords, isWords] = [formatField(name, was, naming), formatField(name, is, naming)];
    // Shows JSON if different filters have the same description.
    const isHidden = wasWords === isWords && formatFieldValue(was) !== formatFieldValue(is);
    if (wasWords === isWords && !isHidden) return [];
    const label = where + getFieldLabel(name);
    const [from, to] = isHidden ? [formatFieldValue(was), formatFieldValue(is)] : [wasWords, isWords];
    return [{ label, before: from, after: to, ...(dates.includes(name) && { isWhole: true }) }];
  });

const variantChanges = (before: VariantJson, after: VariantJson, naming: Naming): Change[] => {
  const where = `${variantName(after)} · `;
  const dates = [before, after].flatMap(({ properties }) =>
    Object.keys(properties).filter((name) => properties[name]!.type === 'datetime'),
  );
  const values = ({ properties }: VariantJson) =>
    Object.fromEntries(
      Object.entries(properties).map(([name, { type, value }]) => [
        name,
        type === 'datetime' ? naming.moment(String(value)) : value,
      ]),
    );
  return [
    ...compare({ before, after, naming, skipped: ['properties', 'translations', 'variant_id'], where }),
    ...compare({ before: values(before), after: values(after), naming, where, dates }),
    ...otherLanguages({ variants: [before, after] }).flatMap((language) =>
      compare({
        before: before.translations?.[language] ?? {},
        after: after.translations?.[language] ?? {},
        naming,
        where: `${where}${languageName(language)} · `,
      }),
    ),
  ];
};

const NOTHING = { properties: {}, translations: {} };

/** Returns all differences of the campaign, then those of each variant. `null` represents a campaign that does not exist. */
export const campaignChanges = (
  before: CampaignJson | null,
  after: CampaignJson | null,
  naming: Naming,
): Change[] => {
  const getVariants = (campaign: CampaignJson | null) => campaign?.variants ?? [];
  const find = (campaign: CampaignJson | null, id: string) =>
    getVariants(campaign).find(({ variant_id }) => variant_id === id);
  const ids = [...getVariants(before), ...getVariants(after)].map(({ variant_id }) => variant_id);
  return [
    ...compare({ before: before ?? {}, after: after ?? {}, naming, skipped: ['variants', 'campaign_id'] }),
    ...[...new Set(ids)].flatMap((id) => {
      const [old, fresh] = [find(before, id), find(after, id)];
      if (!old && fresh) {
        return [
          { label: 'Variant', before: '', after: variantName(fresh) },
          ...variantChanges({ ...NOTHING, variant_id: id }, fresh, naming).filter(
            ({ label }) => !label.endsWith('· Name'),
          ),
        ];
      }
      if (old && !fresh) return [{ label: 'Variant', before: variantName(old), after: '' }];
      return old && fresh ? variantChanges(old, fresh, naming) : [];
    }),
  ];
};
