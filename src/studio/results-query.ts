import { type CampaignResults, type Conversion, conversionOf, type Store } from '../service/index.ts';
import type { CampaignJson, ConversionJson } from './campaign/campaign-json.ts';

const HOUR_MS = 3_600_000;

/** A draft may have an unfinished goal, which no user reaches. */
const finished = ({ event, product, within_hours }: ConversionJson) => ({
  event: product == null ? (event ?? '') : undefined,
  product: product ?? undefined,
  within_hours: within_hours || 0,
});

/** A conversion as a workspace file writes it. */
export const toConversionJson = ({ withinMs, ...goal }: Conversion): ConversionJson => ({
  ...goal,
  within_hours: withinMs / HOUR_MS,
});

/** The counts of a campaign. */
export const resultsOf = (
  store: Store,
  workspaceId: string,
  { campaign_id: campaignId, conversions }: CampaignJson,
): Promise<CampaignResults> =>
  store.campaignResults(workspaceId, {
    campaignId,
    conversions: (conversions ?? []).map(finished).map(conversionOf),
  });
