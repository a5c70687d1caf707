import type { NewBannerEvent } from '../profiles/banner-event.ts';
import type { UserCampaign } from './store.ts';

/** A row of `user_campaigns`, or what is added to one. */
export interface CampaignRow extends UserCampaign {
  workspaceId: string;
  userId: number;
}

interface RecordedEvent {
  workspaceId: string;
  userId: number;
  event: NewBannerEvent;
}

/** What one event adds. A clock that runs ahead must not hide a campaign for longer. */
const countOf = ({ workspaceId, userId, event }: RecordedEvent): CampaignRow => {
  const { campaignId, variantId, isControl, eventType, round } = event;
  const atMs = Math.min(event.timeMs, event.receivedAtMs);
  const impressionMs = eventType === 'impression' ? atMs : null;
  const isDismissal = eventType === 'dismiss';
  return {
    workspaceId,
    userId,
    campaignId,
    variantId,
    isControl,
    impressions: eventType === 'impression' ? 1 : 0,
    firstImpressionMs: impressionMs,
    lastImpressionMs: impressionMs,
    clicks: eventType === 'click' ? 1 : 0,
    dismissals: isDismissal ? 1 : 0,
    lastDismissalMs: isDismissal ? atMs : null,
    // A banner is of one eligibility round: dismissing it twice, or late, or another of its round starts no other one.
    round: isDismissal ? round + 1 : 0,
  };
};

const latest = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : Math.max(a, b));

const addTo = (sum: CampaignRow, more: CampaignRow) => {
  if ((more.firstImpressionMs ?? Infinity) < (sum.firstImpressionMs ?? Infinity)) {
    sum.firstImpressionMs = more.firstImpressionMs;
    sum.variantId = more.variantId;
    sum.isControl = more.isControl;
  }
  sum.impressions += more.impressions;
  sum.lastImpressionMs = latest(sum.lastImpressionMs, more.lastImpressionMs);
  sum.clicks += more.clicks;
  sum.dismissals += more.dismissals;
  sum.lastDismissalMs = latest(sum.lastDismissalMs, more.lastDismissalMs);
  sum.round = Math.max(sum.round, more.round);
};

/** What events that were not stored before add to `user_campaigns`, one row a user and campaign. */
export const countCampaigns = (events: readonly RecordedEvent[]): CampaignRow[] => {
  const rows = new Map<string, CampaignRow>();
  for (const each of events) {
    if (each.event.isTestSend) continue;
    const name = `${each.userId} ${each.event.campaignId}`;
    const count = countOf(each);
    const sum = rows.get(name);
    if (sum) addTo(sum, count);
    else rows.set(name, count);
  }
  return [...rows.values()];
};
