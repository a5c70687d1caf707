import type { CampaignText } from './campaign-json.ts';

interface HasCampaign {
  campaign: CampaignText;
}

/** Published, drafted and scheduled versions of a campaign: at least one is there. */
interface Versions {
  published: HasCampaign | null;
  draft: HasCampaign | null;
  /** Soonest first. */
  scheduled: readonly HasCampaign[];
}

/** What a campaign is listed as: what is published, else its draft, else the release that goes live next. */
export const currentText = ({ published, draft, scheduled }: Versions): CampaignText =>
  (published ?? draft ?? scheduled[0])!.campaign;
