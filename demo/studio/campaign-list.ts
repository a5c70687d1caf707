import { node } from '../ui/node.ts';
import { type CampaignText, nameOf } from './campaign-text.ts';
import { stateMark } from './facts.ts';

/** The campaigns to choose from; the first one is chosen. */
export const campaignList = (
  campaigns: CampaignText[],
  onChoose: (campaignId: string) => void,
): HTMLElement =>
  node('fieldset', { class: 'campaigns' }, [
    node('legend', {}, ['Campaign']),
    ...campaigns.map((campaign, i) =>
      node('label', {}, [
        node(
          'input',
          { type: 'radio', name: 'campaign', value: campaign.campaign_id, checked: i === 0 },
          [],
          { change: () => onChoose(campaign.campaign_id) },
        ),
        node('span', { class: 'campaign-name' }, [nameOf(campaign)]),
        stateMark(campaign),
      ]),
    ),
  ]);
