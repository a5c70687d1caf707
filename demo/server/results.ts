import { exportLines, type Store } from '../../src/service/index.ts';

const COUNTED = ['impression', 'click', 'dismiss'] as const;
type Counted = (typeof COUNTED)[number];

/** How often, and by how many different people. */
export interface Count {
  total: number;
  unique: number;
}
export type VariantResults = Record<Counted, Count>;
/** By campaign, then by variant; `control` stands for who was left without a banner on purpose. */
export type Results = Record<string, Record<string, VariantResults>>;

interface Line {
  campaign_id: string;
  variant_id: string | null;
  is_control: boolean;
  event_type: Counted;
  external_user_id: string;
}

const emptyPeople = () => ({
  impression: new Set<string>(),
  click: new Set<string>(),
  dismiss: new Set<string>(),
});
const emptyTotals = () => ({ impression: 0, click: 0, dismiss: 0 });

/** Counts the banner events of a workspace, from the same lines that an export writes. */
export const countResults = async (store: Store, workspaceId: string): Promise<Results> => {
  const people = new Map<string, ReturnType<typeof emptyPeople>>();
  const totals = new Map<string, ReturnType<typeof emptyTotals>>();
  for await (const line of exportLines(store, 'banner-events', workspaceId) as AsyncIterable<Line>) {
    const key = JSON.stringify([
      line.campaign_id,
      line.is_control ? 'control' : (line.variant_id ?? 'control'),
    ]);
    const seenBy = people.get(key) ?? emptyPeople();
    const total = totals.get(key) ?? emptyTotals();
    people.set(key, seenBy);
    totals.set(key, total);
    seenBy[line.event_type].add(line.external_user_id);
    total[line.event_type] += 1;
  }
  const results: Results = {};
  for (const [key, total] of totals) {
    const [campaignId, variantId] = JSON.parse(key) as [string, string];
    results[campaignId] ??= {};
    const count = (type: Counted): Count => ({ total: total[type], unique: people.get(key)![type].size });
    results[campaignId][variantId] = {
      impression: count('impression'),
      click: count('click'),
      dismiss: count('dismiss'),
    };
  }
  return results;
};
