import { type CampaignResults, type Conversion, conversionOf, type Store } from '../service/index.ts';
import type { CampaignText, ConversionText } from './campaign/campaign-json.ts';

const HOUR_MS = 3_600_000;

/** An unfinished one, as a draft may have it, is reached by nobody. */
const finished = ({ event, product, within_hours }: ConversionText) => ({
  event: product == null ? (event ?? '') : undefined,
  product: product ?? undefined,
  within_hours: within_hours || 0,
});

/** A conversion as a workspace file writes it. */
export const conversionText = ({ withinMs, ...goal }: Conversion): ConversionText => ({
  ...goal,
  within_hours: withinMs / HOUR_MS,
});

/** The counts of a campaign. */
export const resultsOf = (
  store: Store,
  workspaceId: string,
  { campaign_id: campaignId, conversions }: CampaignText,
): Promise<CampaignResults> =>
  store.campaignResults(workspaceId, {
    campaignId,
    conversions: (conversions ?? []).map(finished).map(conversionOf),
  });
