import { EVENT_TYPES, isRecord } from '../../protocol/index.ts';
import type { BannerEventRow, StoredEvent } from '../profiles/events.ts';
import { MEASURES } from '../profiles/measures.ts';
import { type ProfileJson, readProfile } from '../profiles/profile.ts';
import type { UserCampaign } from '../profiles/user-campaign.ts';
import type { ChangeSet, IdentifierRow, UserRow, WrittenUser } from '../profiles/user-repository.ts';
import type { UserChange } from '../results/statements.ts';
import {
  readBoolean,
  readEnum,
  readJson,
  readNumber,
  readText,
  readTextOrNull,
  type SqlRow,
} from '../row-readers.ts';
import { type Column, columns, readMs, readMsOrNull } from '../sql/columns.ts';
import { createUserCampaign, type DuplicateEvent, type UserCampaignRow } from './user-campaign-changes.ts';

export const USERS = columns<WrittenUser>({
  user_id: ['bigint', ({ userId }) => userId],
  workspace_id: ['text', ({ workspaceId }) => workspaceId],
  external_id: ['text', ({ externalId }) => externalId],
  profile: ['json', ({ profile }) => profile],
  version: ['bigint', ({ version }) => version],
  created_at: ['timestamp', ({ createdAtMs }) => createdAtMs],
  updated_at: ['timestamp', ({ updatedAtMs }) => updatedAtMs],
});

export const DELETED_USERS = columns<ChangeSet['deleted'][number]>({
  user_id: ['bigint', ({ userId }) => userId],
  version: ['bigint', ({ version }) => version],
});

export const USER_IDENTIFIERS = columns<IdentifierRow>({
  workspace_id: ['text', ({ workspaceId }) => workspaceId],
  identifier: ['text', ({ identifier }) => identifier],
  user_id: ['bigint', ({ userId }) => userId],
});

export const REJECT_IDENTIFIERS = columns<ChangeSet['rejectIdentifiers'][number]>({
  workspace_id: ['text', ({ workspaceId }) => workspaceId],
  user_identifier: ['text', ({ identifier }) => identifier],
});

type NewEvent = ChangeSet['events'][number];
const ofPurchase =
  (member: 'productId' | 'price' | 'currency' | 'quantity') =>
  ({ event }: NewEvent) =>
    event.kind === 'purchase' ? event[member] : null;

/** Assigned by the database. */
export const EVENT_ID: Column<never> = { name: 'event_id', type: 'bigint', toValue: () => null };

export const EVENTS = columns<NewEvent>({
  workspace_id: ['text', ({ workspaceId }) => workspaceId],
  user_id: ['bigint', ({ userId }) => userId],
  name: ['text', ({ event }) => (event.kind === 'event' ? event.name : null)],
  product_id: ['text', ofPurchase('productId')],
  price: ['float8', ofPurchase('price')],
  currency: ['text', ofPurchase('currency')],
  quantity: ['int', ofPurchase('quantity')],
  app_id: ['text', ({ event }) => event.appId],
  occurred_at: ['timestamp', ({ event }) => event.timeMs],
  received_at: ['timestamp', ({ event }) => event.receivedAtMs],
  properties: ['json', ({ event }) => event.properties],
});

/** Banner event with the columns that are computed on write. */
export type WrittenBannerEvent = ChangeSet['bannerEvents'][number] & { isFirst: boolean };

/** Assigned by the database. */
export const BANNER_EVENT_ID: Column<never> = {
  name: 'banner_event_id',
  type: 'bigint',
  toValue: () => null,
};

export const BANNER_EVENTS = columns<WrittenBannerEvent>({
  user_id: ['bigint', ({ userId }) => userId],
  banner_id: ['text', ({ event }) => event.bannerId],
  event_type: ['text', ({ event }) => event.eventType],
  occurred_at: ['timestamp', ({ event }) => event.timeMs],
  workspace_id: ['text', ({ workspaceId }) => workspaceId],
  campaign_id: ['text', ({ event }) => event.campaignId],
  variant_id: ['text', ({ event }) => event.variantId],
  placement_id: ['text', ({ event }) => event.placementId],
  day: ['text', ({ event }) => event.day],
  app_id: ['text', ({ event }) => event.appId],
  is_control: ['boolean', ({ event }) => event.isControl],
  is_test_send: ['boolean', ({ event }) => event.isTestSend],
  is_first: ['boolean', ({ isFirst }) => isFirst],
  received_at: ['timestamp', ({ event }) => event.receivedAtMs],
  language: ['text', ({ event }) => event.language],
  holdout_id: ['text', ({ event }) => event.holdoutId],
  button_id: ['text', ({ event }) => event.buttonId],
});

export const USER_CAMPAIGNS = [
  columns<UserCampaignRow>({
    user_id: ['bigint', ({ userId }) => userId],
    campaign_id: ['text', ({ userCampaign }) => userCampaign.campaignId],
    workspace_id: ['text', ({ workspaceId }) => workspaceId],
    variant_id: ['text', ({ userCampaign }) => userCampaign.variantId],
    is_control: ['boolean', ({ userCampaign }) => userCampaign.isControl],
    first_impression_at: ['timestamp', ({ userCampaign }) => userCampaign.firstImpressionMs],
    round: ['int', ({ userCampaign }) => userCampaign.round],
  }),
  ...MEASURES.map(({ events, lastAt, lastMs }) =>
    columns<UserCampaignRow>({
      [events]: ['int', ({ userCampaign }) => userCampaign[events]],
      [lastAt]: ['timestamp', ({ userCampaign }) => userCampaign[lastMs]],
    }),
  ),
].flat();

/** Change of a user after their events were stored, which corrects earlier rows of the feed. */
export type WrittenChange = Omit<UserChange, 'changeId' | 'bannerEvent'> & {
  bannerEvent: DuplicateEvent | null;
};

export const USER_CHANGES = columns<WrittenChange>({
  workspace_id: ['text', ({ workspaceId }) => workspaceId],
  user_id: ['bigint', ({ userId }) => userId],
  kind: ['text', ({ kind }) => kind],
  into_user_id: ['bigint', ({ intoUserId }) => intoUserId],
  changed_at: ['timestamp', ({ changedAtMs }) => changedAtMs],
  banner_event: ['json', ({ bannerEvent }) => bannerEvent],
});

/** Counter row with the shard of the replica that increments it. */
export type WithShard<T> = T & { shard: number };

export const DATA_POINTS = columns<WithShard<ChangeSet['points'][number]>>({
  workspace_id: ['text', ({ workspaceId }) => workspaceId],
  day: ['date', ({ day }) => day],
  shard: ['int', ({ shard }) => shard],
  points: ['bigint', ({ points }) => points],
});

// Readers of driver-specific values. PostgreSQL's driver returns a bigint as text, SQLite's returns a boolean as a number.

export const toUserRow = (row: SqlRow): UserRow => {
  const [userId, externalId] = [readNumber(row, 'user_id'), readTextOrNull(row, 'external_id')];
  const [createdAtMs, updatedAtMs] = [readMs(row, 'created_at'), readMs(row, 'updated_at')];
  const profile = readJson(row, 'profile') as ProfileJson | null;
  return {
    userId,
    workspaceId: readText(row, 'workspace_id'),
    externalId,
    profile: profile && readProfile({ userId, externalId, createdAtMs, updatedAtMs }, profile),
    createdAtMs,
    seenAtMs: updatedAtMs,
    version: readNumber(row, 'version'),
    characters: typeof row['profile'] === 'string' ? row['profile'].length : 0,
  };
};

export const toUserCampaign = (row: SqlRow): UserCampaign => {
  const userCampaign = createUserCampaign({
    campaignId: readText(row, 'campaign_id'),
    variantId: readTextOrNull(row, 'variant_id'),
    isControl: readBoolean(row, 'is_control'),
  });
  userCampaign.firstImpressionMs = readMsOrNull(row, 'first_impression_at');
  userCampaign.round = readNumber(row, 'round');
  for (const { events, lastAt, lastMs } of MEASURES) {
    userCampaign[events] = readNumber(row, events);
    userCampaign[lastMs] = readMsOrNull(row, lastAt);
  }
  return userCampaign;
};

export const toUserCampaignRow = (row: SqlRow): UserCampaignRow => ({
  workspaceId: readText(row, 'workspace_id'),
  userId: readNumber(row, 'user_id'),
  userCampaign: toUserCampaign(row),
});

export const toDuplicateEvent = (row: SqlRow): DuplicateEvent => ({
  bannerEventId: readNumber(row, 'banner_event_id'),
  campaignId: readText(row, 'campaign_id'),
  holdoutId: readTextOrNull(row, 'holdout_id'),
  eventType: readEnum(row, 'event_type', EVENT_TYPES),
  day: readText(row, 'day'),
  placementId: readText(row, 'placement_id'),
  language: readTextOrNull(row, 'language'),
});

export const toStoredEvent = (row: SqlRow): StoredEvent => {
  const properties = readJson(row, 'properties');
  const ofUser = {
    externalId: readTextOrNull(row, 'external_id'),
    userId: readNumber(row, 'user_id'),
    appId: readTextOrNull(row, 'app_id'),
    timeMs: readMs(row, 'occurred_at'),
    receivedAtMs: readMs(row, 'received_at'),
    properties: isRecord(properties) ? properties : null,
  };
  if (row['product_id'] === null) return { kind: 'event', name: readText(row, 'name'), ...ofUser };
  return {
    kind: 'purchase',
    productId: readText(row, 'product_id'),
    currency: readText(row, 'currency'),
    price: readNumber(row, 'price'),
    quantity: readNumber(row, 'quantity'),
    ...ofUser,
  };
};

export const toBannerEventRow = (row: SqlRow): BannerEventRow => ({
  userId: readNumber(row, 'user_id'),
  externalId: readText(row, 'external_id'),
  appId: readText(row, 'app_id'),
  bannerId: readText(row, 'banner_id'),
  campaignId: readText(row, 'campaign_id'),
  variantId: readTextOrNull(row, 'variant_id'),
  placementId: readText(row, 'placement_id'),
  language: readTextOrNull(row, 'language'),
  isControl: readBoolean(row, 'is_control'),
  isTestSend: readBoolean(row, 'is_test_send'),
  isFirst: readBoolean(row, 'is_first'),
  eventType: readEnum(row, 'event_type', EVENT_TYPES),
  timeMs: readMs(row, 'occurred_at'),
  receivedAtMs: readMs(row, 'received_at'),
  day: readText(row, 'day'),
  holdoutId: readTextOrNull(row, 'holdout_id'),
  buttonId: readTextOrNull(row, 'button_id'),
});
