import type { CampaignText } from '../../campaign/campaign-text.ts';
import { resultsOf } from '../../results-of.ts';
import type { StudioRoute } from '../route.ts';
import { campaignRows } from './campaigns.ts';

/** What the list says of a campaign: people who saw one of its variants, and those of them who clicked. */
export interface FirstNumber {
  people: number;
  clicked: number;
}

/** A large campaign takes a second to count, and a list is opened often. */
const COUNTED_FOR_MS = 60_000;
const MAX_COUNTED = 10_000;

/** The first number of every campaign that was ever published, by its ID. */
export const createFirstNumbers = (): StudioRoute => {
  const counted = new Map<string, { atMs: number; number: FirstNumber }>();
  return {
    method: 'GET',
    path: '/api/numbers',
    role: 'view',
    answer: async (context) => {
      const { workspace, store, nowMs } = context;
      const { workspaceId, studio } = workspace;
      const count = async (campaign: CampaignText): Promise<FirstNumber> => {
        // Goals are not in it.
        const asked = { ...campaign, conversions: [] };
        const { arms } = await resultsOf(store, workspaceId, asked, studio.timeZone);
        const seen = arms.filter(({ variantId }) => variantId !== null);
        return {
          people: seen.reduce((sum, { exposed }) => sum + exposed, 0),
          clicked: seen.reduce((sum, { clicked }) => sum + clicked, 0),
        };
      };
      const numbers: Record<string, FirstNumber> = {};
      for (const { id, published } of await campaignRows(context)) {
        if (!published) continue;
        const key = JSON.stringify([workspaceId, id]);
        const known = counted.get(key);
        const isFresh = known && nowMs - known.atMs < COUNTED_FOR_MS;
        const number = isFresh ? known.number : await count(published.campaign);
        if (counted.size > MAX_COUNTED) counted.clear();
        if (!isFresh) counted.set(key, { atMs: nowMs, number });
        numbers[id] = number;
      }
      return { status: 200, body: { numbers } };
    },
  };
};
