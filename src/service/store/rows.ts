import { EVENT_TYPES, isRecord } from '../../protocol/index.ts';
import {
  booleanIn,
  jsonIn,
  numberIn,
  oneIn,
  type SqlRow,
  type SqlValue,
  textIn,
  textOrNullIn,
} from '../operators/index.ts';
import type { BannerEventRow, NewBannerEvent, StoredEvent } from '../profiles/events.ts';
import { type ProfileJson, readProfile } from '../profiles/profile.ts';
import type { Changes, KeyRow, UserRow, WrittenUser } from '../profiles/user-set.ts';
import type { AlikeEvents, CampaignCount, CampaignState, UserState } from './campaign-state.ts';
import type { GoalCount, Reached } from './goals.ts';
import type { UserCampaign } from './store.ts';

/** `moment` is a time, which our rows have in Unix milliseconds; `json` is an object, or a text that is JSON already. */
export type ColumnType = 'bigint' | 'int' | 'float8' | 'text' | 'boolean' | 'json' | 'moment' | 'date';

export type ColumnValue = SqlValue | boolean | object;

/** A column of a table, and what it has for a row: both databases build their statements of these. */
export interface Column<T> {
  name: string;
  type: ColumnType;
  of(row: T): ColumnValue;
}

export const columns = <T>(
  of: Record<string, [type: ColumnType, value: (row: T) => ColumnValue]>,
): Column<T>[] => Object.entries(of).map(([name, [type, value]]) => ({ name, type, of: value }));

export const namesOf = (table: readonly Column<never>[]): string => table.map(({ name }) => name).join(', ');

export const USERS = columns<WrittenUser>({
  user_id: ['bigint', ({ userId }) => userId],
  workspace_id: ['text', ({ workspaceId }) => workspaceId],
  external_id: ['text', ({ externalId }) => externalId],
  profile: ['json', ({ profile }) => profile],
  version: ['bigint', ({ version }) => version],
  created_at: ['moment', ({ createdAtMs }) => createdAtMs],
  updated_at: ['moment', ({ updatedAtMs }) => updatedAtMs],
});

export const DELETED_USERS = columns<Changes['deleted'][number]>({
  user_id: ['bigint', ({ userId }) => userId],
  version: ['bigint', ({ version }) => version],
});

export const USER_KEYS = columns<KeyRow>({
  workspace_id: ['text', ({ workspaceId }) => workspaceId],
  key: ['text', ({ key }) => key],
  user_id: ['bigint', ({ userId }) => userId],
});

type NewEvent = Changes['events'][number];
const ofPurchase =
  (member: 'productId' | 'price' | 'currency' | 'quantity') =>
  ({ event }: NewEvent) =>
    event.kind === 'purchase' ? event[member] : null;

/** The database gives it. */
export const EVENT_ID: Column<never> = { name: 'event_id', type: 'bigint', of: () => null };

export const EVENTS = columns<NewEvent>({
  workspace_id: ['text', ({ workspaceId }) => workspaceId],
  user_id: ['bigint', ({ userId }) => userId],
  name: ['text', ({ event }) => (event.kind === 'event' ? event.name : null)],
  product_id: ['text', ofPurchase('productId')],
  price: ['float8', ofPurchase('price')],
  currency: ['text', ofPurchase('currency')],
  quantity: ['int', ofPurchase('quantity')],
  app_id: ['text', ({ event }) => event.appId],
  time: ['moment', ({ event }) => event.timeMs],
  received_at: ['moment', ({ event }) => event.receivedAtMs],
  properties: ['json', ({ event }) => event.properties],
});

export const BANNER_EVENTS = columns<Changes['bannerEvents'][number]>({
  user_id: ['bigint', ({ userId }) => userId],
  banner_id: ['text', ({ event }) => event.bannerId],
  event_type: ['text', ({ event }) => event.eventType],
  time: ['moment', ({ event }) => event.timeMs],
  workspace_id: ['text', ({ workspaceId }) => workspaceId],
  campaign_id: ['text', ({ event }) => event.campaignId],
  variant_id: ['text', ({ event }) => event.variantId],
  placement_id: ['text', ({ event }) => event.placementId],
  day: ['text', ({ event }) => event.day],
  app_id: ['text', ({ event }) => event.appId],
  is_control: ['boolean', ({ event }) => event.isControl],
  is_test_send: ['boolean', ({ event }) => event.isTestSend],
  received_at: ['moment', ({ event }) => event.receivedAtMs],
  language: ['text', ({ event }) => event.language],
  holdout_id: ['text', ({ event }) => event.holdoutId],
});

export const USER_CAMPAIGNS = columns<UserState>({
  user_id: ['bigint', ({ userId }) => userId],
  campaign_id: ['text', ({ state }) => state.campaignId],
  workspace_id: ['text', ({ workspaceId }) => workspaceId],
  variant_id: ['text', ({ state }) => state.variantId],
  is_control: ['boolean', ({ state }) => state.isControl],
  impressions: ['int', ({ state }) => state.impressions],
  first_impression_at: ['moment', ({ state }) => state.firstImpressionMs],
  last_impression_at: ['moment', ({ state }) => state.lastImpressionMs],
  clicks: ['int', ({ state }) => state.clicks],
  dismissals: ['int', ({ state }) => state.dismissals],
  last_dismissal_at: ['moment', ({ state }) => state.lastDismissalMs],
  round: ['int', ({ state }) => state.round],
  parts: ['json', ({ state }) => state.parts],
  goals: ['json', ({ state }) => state.goals],
});

/** A row of counts with the lane of the replica that adds to it. */
export type InLane<T> = T & { lane: number };

export const CAMPAIGN_COUNTS = columns<InLane<CampaignCount>>({
  workspace_id: ['text', ({ workspaceId }) => workspaceId],
  campaign_id: ['text', ({ campaignId }) => campaignId],
  variant_id: ['text', ({ variantId }) => variantId],
  part: ['text', ({ part }) => part],
  lane: ['int', ({ lane }) => lane],
  impressions: ['bigint', ({ impressions }) => impressions],
  clicks: ['bigint', ({ clicks }) => clicks],
  dismissals: ['bigint', ({ dismissals }) => dismissals],
  exposed: ['bigint', ({ exposed }) => exposed],
  clicked: ['bigint', ({ clicked }) => clicked],
  dismissed: ['bigint', ({ dismissed }) => dismissed],
});

export const GOAL_COUNTS = columns<InLane<GoalCount>>({
  workspace_id: ['text', ({ workspaceId }) => workspaceId],
  campaign_id: ['text', ({ campaignId }) => campaignId],
  variant_id: ['text', ({ variantId }) => variantId],
  goal: ['text', ({ goal }) => goal],
  currencies: ['text', ({ currencies }) => currencies],
  lane: ['int', ({ lane }) => lane],
  converted: ['bigint', ({ converted }) => converted],
  revenue: ['float8', ({ revenue }) => revenue],
  squares: ['float8', ({ squares }) => squares],
});

export const DATA_POINTS = columns<InLane<Changes['points'][number]>>({
  workspace_id: ['text', ({ workspaceId }) => workspaceId],
  day: ['date', ({ day }) => day],
  lane: ['int', ({ lane }) => lane],
  points: ['bigint', ({ points }) => points],
});

// Rows as a driver gives them: a time is Unix milliseconds; for PostgreSQL's driver a bigint is a text, for SQLite a boolean is a
// number.

export const msIn = (row: SqlRow, column: string) => Math.round(numberIn(row, column));
const msOrNullIn = (row: SqlRow, column: string) => (row[column] === null ? null : msIn(row, column));

export const userOf = (row: SqlRow): UserRow => {
  const [userId, externalId] = [numberIn(row, 'user_id'), textOrNullIn(row, 'external_id')];
  const [createdAtMs, updatedAtMs] = [msIn(row, 'created_at'), msIn(row, 'updated_at')];
  const profile = jsonIn(row, 'profile') as ProfileJson | null;
  return {
    userId,
    workspaceId: textIn(row, 'workspace_id'),
    externalId,
    profile: profile && readProfile({ userId, externalId, createdAtMs, updatedAtMs }, profile),
    createdAtMs,
    seenAtMs: updatedAtMs,
    version: numberIn(row, 'version'),
    characters: typeof row['profile'] === 'string' ? row['profile'].length : 0,
  };
};

export const campaignOf = (row: SqlRow): UserCampaign => ({
  campaignId: textIn(row, 'campaign_id'),
  variantId: textOrNullIn(row, 'variant_id'),
  isControl: booleanIn(row, 'is_control'),
  impressions: numberIn(row, 'impressions'),
  firstImpressionMs: msOrNullIn(row, 'first_impression_at'),
  lastImpressionMs: msOrNullIn(row, 'last_impression_at'),
  clicks: numberIn(row, 'clicks'),
  dismissals: numberIn(row, 'dismissals'),
  lastDismissalMs: msOrNullIn(row, 'last_dismissal_at'),
  round: numberIn(row, 'round'),
});

export const stateOf = (row: SqlRow): UserState => ({
  workspaceId: textIn(row, 'workspace_id'),
  userId: numberIn(row, 'user_id'),
  state: {
    ...campaignOf(row),
    parts: jsonIn(row, 'parts') as CampaignState['parts'],
    goals: jsonIn(row, 'goals') as Record<string, Reached>,
  },
});

export const alikeOf = (row: SqlRow): AlikeEvents => ({
  campaignId: textIn(row, 'campaign_id'),
  holdoutId: textOrNullIn(row, 'holdout_id'),
  eventType: oneIn(row, 'event_type', EVENT_TYPES),
  day: textIn(row, 'day'),
  placementId: textIn(row, 'placement_id'),
  language: textOrNullIn(row, 'language'),
  times: numberIn(row, 'times'),
});

export const eventOf = (row: SqlRow): StoredEvent => {
  const properties = jsonIn(row, 'properties');
  const ofUser = {
    externalId: textOrNullIn(row, 'external_id'),
    userId: numberIn(row, 'user_id'),
    appId: textOrNullIn(row, 'app_id'),
    timeMs: msIn(row, 'time'),
    receivedAtMs: msIn(row, 'received_at'),
    properties: isRecord(properties) ? properties : null,
  };
  if (row['product_id'] === null) return { kind: 'event', name: textIn(row, 'name'), ...ofUser };
  return {
    kind: 'purchase',
    productId: textIn(row, 'product_id'),
    currency: textIn(row, 'currency'),
    price: numberIn(row, 'price'),
    quantity: numberIn(row, 'quantity'),
    ...ofUser,
  };
};

/** The round of its banner is not stored. */
export const newBannerEventOf = (row: SqlRow): Omit<NewBannerEvent, 'round'> => ({
  appId: textIn(row, 'app_id'),
  bannerId: textIn(row, 'banner_id'),
  campaignId: textIn(row, 'campaign_id'),
  variantId: textOrNullIn(row, 'variant_id'),
  placementId: textIn(row, 'placement_id'),
  language: textOrNullIn(row, 'language'),
  isControl: booleanIn(row, 'is_control'),
  isTestSend: booleanIn(row, 'is_test_send'),
  eventType: oneIn(row, 'event_type', EVENT_TYPES),
  timeMs: msIn(row, 'time'),
  receivedAtMs: msIn(row, 'received_at'),
  day: textIn(row, 'day'),
  holdoutId: textOrNullIn(row, 'holdout_id'),
});

export const bannerEventOf = (row: SqlRow): BannerEventRow => ({
  userId: numberIn(row, 'user_id'),
  externalId: textIn(row, 'external_id'),
  ...newBannerEventOf(row),
});
