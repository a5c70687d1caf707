import type { CampaignJson } from './campaign-json.ts';

interface HasCampaign {
  campaign: CampaignJson;
}

/** Versions of a campaign; at least one exists. */
interface Versions {
  published: HasCampaign | null;
  draft: HasCampaign | null;
  /** Soonest first. */
  scheduled: readonly HasCampaign[];
}

/** Returns the version for the list: the published one, else the draft, else the next scheduled release. */
export const currentCampaign = ({ published, draft, scheduled }: Versions): CampaignJson =>
  (published ?? draft ?? scheduled[0])!.campaign;
