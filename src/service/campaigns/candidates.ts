import type { Asker } from './audience-of.ts';
import type { Campaign } from './campaign.ts';
import { type Check, type Clause, isOpen, mayHold, narrowest } from './quick-checks.ts';

/** What is asked of the value at one path, by the ranks of the campaigns that ask it. */
interface Asked {
  read: Check['read'];
  all: number[];
  byValue: Map<unknown, number[]>;
  bounds: { check: Check; rank: number }[];
}

/** What a campaign is looked up by; `undefined` where only the filter library can rule a user out. */
export const lookupClause = ({ audience }: Campaign): Clause | undefined =>
  audience ? narrowest(audience.clauses) : undefined;

const NONE: readonly number[] = [];

/**
 * Finds the campaigns that may be for a user without asking each: they are looked up by what they ask, one step a path.
 * Returns their ranks in order. Campaigns without a lookup clause are not among them; all others that it leaves out are
 * certainly not for this user.
 */
export const createCandidates = (campaigns: readonly Campaign[]) => {
  const asked = new Map<string, Asked>();

  const note = (check: Check, rank: number) => {
    const known = asked.get(check.path);
    const at: Asked = known ?? { read: check.read, all: [], byValue: new Map(), bounds: [] };
    asked.set(check.path, at);
    at.all.push(rank);
    if (!('among' in check)) at.bounds.push({ check, rank });
    else for (const value of check.among) at.byValue.set(value, [...(at.byValue.get(value) ?? []), rank]);
  };

  for (const [rank, campaign] of campaigns.entries()) {
    if (campaign.status !== 'active') continue;
    for (const check of lookupClause(campaign) ?? []) note(check, rank);
  }
  const paths = [...asked.values()];

  return (asker: Asker, nowMs: number): readonly number[] => {
    const found: number[] = [];
    for (const { read, all, byValue, bounds } of paths) {
      const value = read(asker, nowMs);
      if (isOpen(value)) {
        found.push(...all);
        continue;
      }
      found.push(...(byValue.get(value) ?? NONE));
      if (typeof value !== 'number') continue;
      for (const { check, rank } of bounds) if (mayHold(check, value)) found.push(rank);
    }
    return found.length < 2 ? found : [...new Set(found)].sort((one, other) => one - other);
  };
};
