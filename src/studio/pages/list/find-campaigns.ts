import { type CampaignText, nameOf } from '../../campaign/campaign-text.ts';
import { type ScheduleState, scheduleState } from '../../campaign/schedule-state.ts';
import type { CampaignRow } from '../../server/routes/campaigns.ts';
import { placementName } from '../shell/session.ts';

/** Which campaigns are listed. */
export type Shown = 'all' | 'live' | 'planned' | 'draft' | 'ended';

export const FILTERS: readonly { value: Shown; name: string; states: readonly ScheduleState[] }[] = [
  { value: 'all', name: 'All', states: ['live', 'planned', 'draft', 'stopped', 'over'] },
  { value: 'live', name: 'Live', states: ['live'] },
  { value: 'planned', name: 'Planned', states: ['planned'] },
  { value: 'draft', name: 'Draft', states: ['draft'] },
  { value: 'ended', name: 'Ended', states: ['stopped', 'over'] },
];

const ORDER: readonly ScheduleState[] = ['live', 'planned', 'draft', 'stopped', 'over'];

/** What a row is listed as: what is published, or the draft of one that never was. */
const shownOf = (row: CampaignRow) => (row.published ?? row.draft)?.campaign;

/** What it is at this moment: of what is published, or of what is planned. */
export const stateOf = (row: CampaignRow, nowMs: number): ScheduleState => {
  if (row.published) return scheduleState(row.published.campaign, nowMs);
  return row.planned ? 'planned' : 'draft';
};

/** A draft may hold anything: one that cannot be read is found by its ID. */
const textsOf = (campaign: CampaignText | undefined): string[] =>
  campaign && typeof (campaign.name ?? '') === 'string' && Array.isArray(campaign.placements)
    ? [nameOf(campaign), ...campaign.placements.map(placementName)]
    : [];

const matches = (row: CampaignRow, words: string): boolean => {
  const texts = [row.id, ...textsOf(shownOf(row))];
  return texts.some((text) => text.toLocaleLowerCase().includes(words.trim().toLocaleLowerCase()));
};

/** Those that are shown and have the words in their name, ID or placements: live ones first. */
export const findCampaigns = (
  rows: readonly CampaignRow[],
  { shown, words, nowMs }: { shown: Shown; words: string; nowMs: number },
): CampaignRow[] => {
  const { states } = FILTERS.find(({ value }) => value === shown)!;
  return rows
    .filter((row) => shownOf(row) && states.includes(stateOf(row, nowMs)) && matches(row, words))
    .sort((one, other) => ORDER.indexOf(stateOf(one, nowMs)) - ORDER.indexOf(stateOf(other, nowMs)));
};
