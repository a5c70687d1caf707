import type { CampaignJson } from './campaign-json.ts';

interface HasCampaign {
  campaign: CampaignJson;
}

/** Published, drafted and scheduled versions of a campaign: at least one is there. */
interface Versions {
  published: HasCampaign | null;
  draft: HasCampaign | null;
  /** Soonest first. */
  scheduled: readonly HasCampaign[];
}

/** What a campaign is listed as: what is published, else its draft, else the release that goes live next. */
export const currentCampaign = ({ published, draft, scheduled }: Versions): CampaignJson =>
  (published ?? draft ?? scheduled[0])!.campaign;
