import { isRecord } from '../../protocol/index.ts';
import type { CampaignJson } from './campaign-json.ts';

/** Three-way merge of a value. */
type Merge = (base: unknown, mine: unknown, theirs: unknown) => unknown;

class BothChanged extends Error {
  override readonly name = 'BothChanged';
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Returns the changed side. Throws if both sides changed to different values. */
const whole: Merge = (base, mine, theirs) => {
  if (isSame(mine, theirs) || isSame(theirs, base)) return mine;
  if (isSame(mine, base)) return theirs;
  throw new BothChanged();
};

/** Creates a merge of objects that merges each member by the function of its name. */
const members =
  (getMerge: (name: string) => Merge): Merge =>
  (base, mine, theirs) => {
    if (!isRecord(base) || !isRecord(mine) || !isRecord(theirs)) return whole(base, mine, theirs);
    const merged = Object.keys({ ...theirs, ...mine }).map((name) => {
      return [name, getMerge(name)(base[name], mine[name], theirs[name])] as const;
    });
    return Object.fromEntries(merged.filter(([, value]) => value !== undefined));
  };

const texts = members(() => whole);
const VARIANT: Readonly<Record<string, Merge>> = { properties: texts, translations: members(() => texts) };
const variant = members((name) => VARIANT[name] ?? whole);

const byId = (variants: unknown) =>
  // Adds a prefix, because integer keys would move to the front of the object.
  Object.fromEntries(
    (Array.isArray(variants) ? variants : []).map((each) => [`variant ${each.variant_id}`, each]),
  );

const variants: Merge = (base, mine, theirs) => {
  const merged = members(() => variant)(byId(base), byId(mine), byId(theirs));
  const left = Object.values(Object(merged));
  // Each side deleted another one of two variants.
  if (left.length === 0) throw new BothChanged();
  return left;
};

const campaign = members((name) => (name === 'variants' ? variants : whole));

/** Merges the changes of two drafts. Returns `null` if they changed the same part differently. */
export const mergeCampaigns = (
  base: CampaignJson,
  mine: CampaignJson,
  theirs: CampaignJson,
): CampaignJson | null => {
  try {
    return campaign(base, mine, theirs) as CampaignJson;
  } catch (error) {
    if (error instanceof BothChanged) return null;
    throw error;
  }
};
