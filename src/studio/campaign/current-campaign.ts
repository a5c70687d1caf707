import type { CampaignJson } from './campaign-json.ts';

interface HasCampaign {
  campaign: CampaignJson;
}

/** Versions of a campaign, of which at least one exists. */
interface Versions {
  published: HasCampaign | null;
  draft: HasCampaign | null;
  /** Scheduled releases, soonest first. */
  scheduled: readonly HasCampaign[];
}

/** Returns the published version, otherwise the draft, otherwise the next scheduled release. */
export const currentCampaign = ({ published, draft, scheduled }: Versions): CampaignJson =>
  (published ?? draft ?? scheduled[0])!.campaign;
