import type { CampaignText } from '../../campaign/campaign-text.ts';
import { signedIn } from '../shell/session.ts';

/** Two workspaces may have a campaign of the same ID, such as the test shop and the real one. */
const keyOf = (campaignId: string) =>
  `placard-unsaved:${JSON.stringify([signedIn().workspace.id, campaignId])}`;

/** Keeps a change until the server has it: a page that is closed without a connection would lose it. */
export const keepUnsaved = (campaignId: string, revision: string | null, campaign: CampaignText): void => {
  try {
    localStorage.setItem(keyOf(campaignId), JSON.stringify({ revision, campaign }));
  } catch {
    // Storage is full or switched off: the change is still on its way to the server.
  }
};

export const forgetUnsaved = (campaignId: string): void => {
  try {
    localStorage.removeItem(keyOf(campaignId));
  } catch {
    // Switched off: there is nothing to forget.
  }
};

/** A change that was never saved over this revision; one over another revision is of no use any more. */
export const unsavedOf = (campaignId: string, revision: string | null): CampaignText | null => {
  try {
    const kept = JSON.parse(localStorage.getItem(keyOf(campaignId)) ?? 'null');
    return kept?.revision === revision ? kept.campaign : null;
  } catch {
    return null;
  }
};
