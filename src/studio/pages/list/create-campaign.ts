import { type CampaignText, nameOf } from '../../campaign/campaign-text.ts';
import type { SavedDraft } from '../../server/routes/drafts.ts';
import { call, wordsOf } from '../call.ts';
import { announce } from '../parts/announce.tsx';
import { go } from '../shell/address.tsx';
import { signedIn } from '../shell/session.ts';

/** Random letters that no two campaigns share: results are kept by the ID, so it never changes. */
const newId = (): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(5));
  return `c-${[...bytes].map((byte) => byte.toString(36).padStart(2, '0')).join('')}`;
};

const empty = (): Omit<CampaignText, 'campaign_id'> => ({
  name: 'New campaign',
  status: 'active',
  placements: (signedIn().workspace.placements ?? []).slice(0, 1).map(({ id }) => id),
  variants: [
    {
      variant_id: 'a',
      name: 'A',
      properties: {
        headline: { type: 'string', value: '' },
      },
    },
  ],
});

/** Begins a campaign, new or as a copy of another, as a draft of its own, and opens it. */
export const createCampaign = async (copied?: CampaignText): Promise<void> => {
  const campaign_id = newId();
  const campaign = copied
    ? { ...copied, campaign_id, name: `${nameOf(copied)} (copy)`, status: 'active' as const }
    : { campaign_id, ...empty() };
  try {
    const path = `/api/drafts/${encodeURIComponent(campaign_id)}`;
    await call<SavedDraft>('PUT', path, { body: { campaign, based_on: 0 } });
    go(`/campaigns/${encodeURIComponent(campaign_id)}`);
  } catch (error) {
    announce(wordsOf(error));
  }
};
