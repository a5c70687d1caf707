import type { Changes, KeyRow, UserRow } from '../profiles/changes.ts';
import type { BannerEventRow, StoredEvent } from '../profiles/events.ts';
import { type ProfileJson, profileJson, readProfile } from '../profiles/profile.ts';
import type { AlikeEvents, CampaignCount, CampaignState, UserState } from './campaign-state.ts';
import type { Impression, UserCampaign } from './store.ts';

/**
 * A row as a driver gives it. Its columns have the tables' names, and times are Unix milliseconds. For PostgreSQL's
 * driver a bigint is a text and JSON an object, for SQLite JSON is a text and a boolean is a number.
 */
export type Row = Record<string, unknown>;

const text = (row: Row, column: string) => row[column] as string;
const textOrNull = (row: Row, column: string) => row[column] as string | null;
const number = (row: Row, column: string) => Number(row[column]);
const ms = (row: Row, column: string) => Math.round(row[column] as number);
const msOrNull = (row: Row, column: string) => (row[column] === null ? null : ms(row, column));
const isTrue = (row: Row, column: string) => row[column] === true || row[column] === 1;

const json = (row: Row, column: string): Record<string, unknown> | null => {
  const value = row[column];
  return typeof value === 'string' ? JSON.parse(value) : (value as Record<string, unknown> | null);
};

export const userOf = (row: Row): UserRow => {
  const columns = {
    userId: number(row, 'user_id'),
    externalId: textOrNull(row, 'external_id'),
    createdAtMs: ms(row, 'created_at'),
    updatedAtMs: ms(row, 'updated_at'),
  };
  const profile: ProfileJson | null = json(row, 'profile');
  return {
    userId: columns.userId,
    workspaceId: text(row, 'workspace_id'),
    externalId: columns.externalId,
    profile: profile && readProfile(columns, profile),
    createdAtMs: columns.createdAtMs,
    seenAtMs: columns.updatedAtMs,
    version: number(row, 'version'),
    characters: typeof row['profile'] === 'string' ? row['profile'].length : 0,
  };
};

export const impressionOf = (row: Row): Impression => ({
  campaignId: text(row, 'campaign_id'),
  timeMs: ms(row, 'time'),
});

/** Whether it pays to look for impressions since then. */
export const hasSeenSince = (campaigns: readonly UserCampaign[], sinceMs: number | null): sinceMs is number =>
  sinceMs !== null && campaigns.some(({ lastImpressionMs }) => (lastImpressionMs ?? -1) >= sinceMs);

export const campaignOf = (row: Row): UserCampaign => ({
  campaignId: text(row, 'campaign_id'),
  variantId: textOrNull(row, 'variant_id'),
  isControl: isTrue(row, 'is_control'),
  impressions: number(row, 'impressions'),
  firstImpressionMs: msOrNull(row, 'first_impression_at'),
  lastImpressionMs: msOrNull(row, 'last_impression_at'),
  clicks: number(row, 'clicks'),
  dismissals: number(row, 'dismissals'),
  lastDismissalMs: msOrNull(row, 'last_dismissal_at'),
  round: number(row, 'round'),
});

export const stateOf = (row: Row): UserState => ({
  workspaceId: text(row, 'workspace_id'),
  userId: number(row, 'user_id'),
  state: { ...campaignOf(row), parts: json(row, 'parts') as CampaignState['parts'] },
});

export const alikeOf = (row: Row): AlikeEvents => ({
  campaignId: text(row, 'campaign_id'),
  eventType: text(row, 'event_type') as AlikeEvents['eventType'],
  day: text(row, 'day'),
  placementId: text(row, 'placement_id'),
  language: textOrNull(row, 'language'),
  times: number(row, 'times'),
});

export const eventOf = (row: Row): StoredEvent => {
  const ofUser = {
    externalId: textOrNull(row, 'external_id'),
    userId: number(row, 'user_id'),
    appId: textOrNull(row, 'app_id'),
    timeMs: ms(row, 'time'),
    receivedAtMs: ms(row, 'received_at'),
    properties: json(row, 'properties'),
  };
  if (row['product_id'] === null) return { kind: 'event', name: text(row, 'name'), ...ofUser };
  return {
    kind: 'purchase',
    productId: text(row, 'product_id'),
    currency: text(row, 'currency'),
    price: number(row, 'price'),
    quantity: number(row, 'quantity'),
    ...ofUser,
  };
};

export const bannerEventOf = (row: Row): BannerEventRow => ({
  userId: number(row, 'user_id'),
  externalId: text(row, 'external_id'),
  appId: text(row, 'app_id'),
  bannerId: text(row, 'banner_id'),
  campaignId: text(row, 'campaign_id'),
  variantId: textOrNull(row, 'variant_id'),
  placementId: text(row, 'placement_id'),
  language: textOrNull(row, 'language'),
  isControl: isTrue(row, 'is_control'),
  isTestSend: isTrue(row, 'is_test_send'),
  eventType: text(row, 'event_type') as BannerEventRow['eventType'],
  timeMs: ms(row, 'time'),
  receivedAtMs: ms(row, 'received_at'),
  day: text(row, 'day'),
});

// Rows as both databases take them. The members are columns; times are Unix milliseconds.

/** With the version that the write gives it. */
export const userRow = ({
  userId,
  workspaceId,
  externalId,
  profile,
  version,
  createdAtMs,
  seenAtMs,
}: UserRow) => ({
  user_id: userId,
  workspace_id: workspaceId,
  external_id: externalId,
  profile: profile && profileJson(profile),
  version: version + 1,
  created_at: profile?.createdAtMs ?? createdAtMs,
  updated_at: profile?.updatedAtMs ?? seenAtMs,
});

export const keyRow = ({ workspaceId, key, userId }: KeyRow) => ({
  workspace_id: workspaceId,
  key,
  user_id: userId,
});

export const eventRow = ({ workspaceId, userId, event }: Changes['events'][number]) => {
  const purchase = event.kind === 'purchase' ? event : null;
  return {
    workspace_id: workspaceId,
    user_id: userId,
    name: event.kind === 'event' ? event.name : null,
    product_id: purchase?.productId ?? null,
    price: purchase?.price ?? null,
    currency: purchase?.currency ?? null,
    quantity: purchase?.quantity ?? null,
    app_id: event.appId,
    time: event.timeMs,
    received_at: event.receivedAtMs,
    properties: event.properties,
  };
};

export const bannerEventRow = ({ workspaceId, userId, event }: Changes['bannerEvents'][number]) => ({
  user_id: userId,
  banner_id: event.bannerId,
  event_type: event.eventType,
  time: event.timeMs,
  workspace_id: workspaceId,
  campaign_id: event.campaignId,
  variant_id: event.variantId,
  placement_id: event.placementId,
  day: event.day,
  app_id: event.appId,
  is_control: event.isControl,
  is_test_send: event.isTestSend,
  received_at: event.receivedAtMs,
  language: event.language,
});

export const campaignRow = ({ workspaceId, userId, state }: UserState) => ({
  user_id: userId,
  campaign_id: state.campaignId,
  workspace_id: workspaceId,
  variant_id: state.variantId,
  is_control: state.isControl,
  impressions: state.impressions,
  first_impression_at: state.firstImpressionMs,
  last_impression_at: state.lastImpressionMs,
  clicks: state.clicks,
  dismissals: state.dismissals,
  last_dismissal_at: state.lastDismissalMs,
  round: state.round,
  parts: state.parts,
});

export const countRow = (count: CampaignCount, lane: number) => ({
  workspace_id: count.workspaceId,
  campaign_id: count.campaignId,
  variant_id: count.variantId,
  part: count.part,
  lane,
  impressions: count.impressions,
  clicks: count.clicks,
  dismissals: count.dismissals,
  exposed: count.exposed,
  clicked: count.clicked,
  dismissed: count.dismissed,
});

export const pointsRow = ({ workspaceId, day, points }: Changes['points'][number], lane: number) => ({
  workspace_id: workspaceId,
  day,
  lane,
  points,
});
