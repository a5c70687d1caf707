import {
  type CampaignJson,
  nameOf,
  type ScheduleState,
  scheduleState,
} from '../../campaign/campaign-json.ts';
import { currentCampaign } from '../../campaign/current-campaign.ts';
import { lastDecision } from '../../campaign/review.ts';
import type { CampaignRow } from '../../server/routes/campaigns.ts';
import type { SavedDraft } from '../../server/routes/drafts.ts';
import { call, describeError } from '../call.ts';
import type { Option } from '../components/controls.tsx';
import { announce } from '../components/notices.tsx';
import { navigate } from '../shell/router.tsx';
import { placementName } from '../shell/session.ts';

/** What a campaign is listed as: its state, or that it was taken off the list. */
export type ListState = ScheduleState | 'archived' | 'test';

/** Which campaigns are listed. */
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

/** By what the list is sorted. */
export type Sort = 'state' | 'name' | 'start' | 'people';

/** What it is at this moment: of what is published, or of what is planned. */
export const stateOf = (row: CampaignRow, nowMs: number): ListState => {
  if (row.isArchived) return 'archived';
  if (row.published) {
    const state = scheduleState(row.published.campaign, nowMs);
    return state === 'draft' ? 'test' : state;
  }
  return row.scheduled.length > 0 ? 'planned' : 'draft';
};

/** Whether its draft waits for approval. */
export const isToApprove = ({ draft }: CampaignRow): boolean =>
  draft !== null && lastDecision(draft.review)?.action === 'request';

/** A draft may hold anything: one that cannot be read is found by its ID. */
const textsOf = (campaign: CampaignJson | undefined): string[] =>
  campaign && typeof (campaign.name ?? '') === 'string' && Array.isArray(campaign.placements)
    ? [nameOf(campaign), ...campaign.placements.map(placementName)]
    : [];

const matches = (row: CampaignRow, words: string): boolean => {
  const texts = [row.id, ...textsOf(currentCampaign(row))];
  const all = texts.join('\n').toLocaleLowerCase();
  return words
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
};

/** One without a start began when it was published, or when its draft was saved last. */
const startOf = (row: CampaignRow): number => {
  const { published, draft, scheduled } = row;
  const at = published?.at ?? draft?.at ?? scheduled[0]?.liveAt;
  return Date.parse(currentCampaign(row).starts_at ?? at ?? '') || 0;
};

interface Search {
  shown: Shown;
  words: string;
  sort: Sort;
  /** How many people saw it, by campaign. */
  people: (id: string) => number;
  nowMs: number;
}

/** Those that are shown and have the words in their name, ID or placements, sorted: the latest and the most seen first. */
export const findCampaigns = (
  rows: readonly CampaignRow[],
  { shown, words, sort, people, nowMs }: Search,
): CampaignRow[] => {
  const { states } = FILTERS.find(({ value }) => value === shown)!;
  const nameIn = (row: CampaignRow) => textsOf(currentCampaign(row))[0] ?? row.id;
  const sorts: Record<Sort, (one: CampaignRow, other: CampaignRow) => number> = {
    state: (one, other) => ORDER.indexOf(stateOf(one, nowMs)) - ORDER.indexOf(stateOf(other, nowMs)),
    name: (one, other) => nameIn(one).localeCompare(nameIn(other), undefined, { numeric: true }),
    start: (one, other) => startOf(other) - startOf(one),
    people: (one, other) => people(other.id) - people(one.id),
  };
  const isShown = (row: CampaignRow) =>
    states.includes(stateOf(row, nowMs)) ||
    (shown === 'planned' && row.scheduled.length > 0) ||
    (shown === 'review' && isToApprove(row));
  return rows.filter((row) => isShown(row) && matches(row, words)).sort(sorts[sort]);
};

/** Random letters that no two campaigns share: results are kept by the ID, so it never changes. */
const newId = (): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(5));
  return `c-${[...bytes].map((byte) => byte.toString(36).padStart(2, '0')).join('')}`;
};

/** A campaign as a copy of another. */
export const copyOf = (copied: CampaignJson): Omit<CampaignJson, 'campaign_id'> => ({
  ...copied,
  name: `${nameOf(copied)} (copy)`,
  status: 'active',
});

/** Begins a campaign with what is given, as a draft of its own, and opens it. */
export const createCampaign = async (content: Omit<CampaignJson, 'campaign_id'>): Promise<void> => {
  const campaign_id = newId();
  const campaign: CampaignJson = { ...content, campaign_id };
  try {
    const path = `/api/drafts/${encodeURIComponent(campaign_id)}`;
    await call<SavedDraft>('PUT', path, { body: { campaign, based_on: 0 } });
    navigate(`/campaigns/${encodeURIComponent(campaign_id)}`);
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
  over: 'Over',
  archived: 'Archived',
};

/** Whether a campaign runs: a sign and a word, so that neither colour nor sight alone tells it. */
export const StateMark = ({ state }: { state: ListState }) => (
  <span class="state" data-state={state}>
    {STATE_LABELS[state]}
  </span>
);
