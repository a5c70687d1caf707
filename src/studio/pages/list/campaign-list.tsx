import {
  type CampaignJson,
  getCampaignName,
  type ScheduleState,
  scheduleState,
} from '../../campaign/campaign-json.ts';
import { currentCampaign } from '../../campaign/current-campaign.ts';
import { lastDecision } from '../../campaign/review.ts';
import type { CampaignVersions } from '../../server/routes/campaigns.ts';
import type { SavedDraft } from '../../server/routes/drafts.ts';
import { call, describeError } from '../call.ts';
import type { Option } from '../components/controls.tsx';
import { announce } from '../components/notices.tsx';
import { campaignPath, navigate } from '../shell/router.tsx';
import { placementName } from '../shell/session.ts';

/** Status in the list. */
export type ListState = ScheduleState | 'archived' | 'test';

export type Shown = 'all' | 'live' | 'planned' | 'draft' | 'review' | 'ended' | 'archived';

const ORDER: readonly ListState[] = ['live', 'test', 'planned', 'draft', 'stopped', 'over', 'archived'];

export const FILTERS: readonly (Option<Shown> & { states: readonly ListState[] })[] = [
  { value: 'all', name: 'All', states: ORDER.slice(0, -1) },
  { value: 'live', name: 'Live', states: ['live', 'test'] },
  { value: 'planned', name: 'Scheduled', states: ['planned'] },
  { value: 'draft', name: 'Draft', states: ['draft'] },
  { value: 'review', name: 'To approve', states: [] },
  { value: 'ended', name: 'Ended', states: ['stopped', 'over'] },
  { value: 'archived', name: 'Archived', states: ['archived'] },
];

export type Sort = 'state' | 'name' | 'start' | 'exposed';

/** Returns the current status of the published version or, if none, of the scheduled one. */
export const getListState = (row: CampaignVersions, nowMs: number): ListState => {
  if (row.isArchived) return 'archived';
  if (row.published) {
    const state = scheduleState(row.published.campaign, nowMs);
    return state === 'draft' ? 'test' : state;
  }
  return row.scheduled.length > 0 ? 'planned' : 'draft';
};

/** Returns whether the draft of a campaign awaits approval. */
export const isToApprove = ({ draft }: CampaignVersions): boolean =>
  draft !== null && lastDecision(draft.review)?.action === 'request';

/** Returns the searchable texts of a campaign. Drafts are not validated, so an unreadable draft is found only by its ID. */
const getSearchTexts = (campaign: CampaignJson | undefined): string[] =>
  campaign && typeof (campaign.name ?? '') === 'string' && Array.isArray(campaign.placements)
    ? [getCampaignName(campaign), ...campaign.placements.map(placementName)]
    : [];

const matches = (row: CampaignVersions, query: string): boolean => {
  const texts = [row.id, ...getSearchTexts(currentCampaign(row))];
  const all = texts.join('\n').toLocaleLowerCase();
  return query
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
};

/** Returns the start time of a campaign or, if not set, the time of its publication or of the last save of its draft. */
const getStartMs = (row: CampaignVersions): number => {
  const { published, draft, scheduled } = row;
  const at = published?.at ?? draft?.at ?? scheduled[0]?.liveAt;
  return Date.parse(currentCampaign(row).starts_at ?? at ?? '') || 0;
};

interface Search {
  shown: Shown;
  query: string;
  sort: Sort;
  /** Returns the number of users who saw a campaign. */
  countUsers: (id: string) => number;
  nowMs: number;
}

/** Returns the campaigns that match the filter and the search (name, ID or placements), latest or most seen first. */
export const findCampaigns = (
  rows: readonly CampaignVersions[],
  { shown, query, sort, countUsers, nowMs }: Search,
): CampaignVersions[] => {
  const { states } = FILTERS.find(({ value }) => value === shown)!;
  const nameIn = (row: CampaignVersions) => getSearchTexts(currentCampaign(row))[0] ?? row.id;
  const sorts: Record<Sort, (one: CampaignVersions, other: CampaignVersions) => number> = {
    state: (one, other) =>
      ORDER.indexOf(getListState(one, nowMs)) - ORDER.indexOf(getListState(other, nowMs)),
    name: (one, other) => nameIn(one).localeCompare(nameIn(other), undefined, { numeric: true }),
    start: (one, other) => getStartMs(other) - getStartMs(one),
    exposed: (one, other) => countUsers(other.id) - countUsers(one.id),
  };
  const isShown = (row: CampaignVersions) =>
    states.includes(getListState(row, nowMs)) ||
    (shown === 'planned' && row.scheduled.length > 0) ||
    (shown === 'review' && isToApprove(row));
  return rows.filter((row) => isShown(row) && matches(row, query)).sort(sorts[sort]);
};

/** Returns a random ID, because results are keyed by ID and the ID never changes. */
const newId = (): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(5));
  return `c-${[...bytes].map((byte) => byte.toString(36).padStart(2, '0')).join('')}`;
};

export const createCopy = (copied: CampaignJson): Omit<CampaignJson, 'campaign_id'> => ({
  ...copied,
  name: `${getCampaignName(copied)} (copy)`,
  status: 'active',
});

/** Creates a draft with this content and opens it. */
export const createCampaign = async (content: Omit<CampaignJson, 'campaign_id'>): Promise<void> => {
  const campaign_id = newId();
  const campaign: CampaignJson = { ...content, campaign_id };
  try {
    const path = `/api/drafts/${encodeURIComponent(campaign_id)}`;
    await call<SavedDraft>('PUT', path, { body: { campaign, based_on: 0 } });
    navigate(campaignPath(campaign_id));
  } catch (error) {
    announce(describeError(error));
  }
};

export const STATE_LABELS: Record<ListState, string> = {
  draft: 'Draft',
  test: 'Test users only',
  stopped: 'Stopped',
  planned: 'Scheduled',
  live: 'Live',
  over: 'Ended',
  archived: 'Archived',
};

/** Status badge with icon and text, so that it does not depend on color. */
export const StateMark = ({ state }: { state: ListState }) => (
  <span class="state" data-state={state}>
    {STATE_LABELS[state]}
  </span>
);
