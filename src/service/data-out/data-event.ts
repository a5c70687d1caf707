import { SECOND_MS } from '../../protocol/index.ts';
import type { Campaign } from '../campaigns/campaign.ts';
import type { CampaignSet } from '../campaigns/campaign-set.ts';
import { MEASURE_BY_TYPE } from '../measures.ts';
import { formatGoal, type Goal, parseGoal } from '../results/goals.ts';
import type { FeedConversion, FeedPage } from '../store/store.ts';
import { hashId } from './event-id.ts';
import type { DataEventName } from './event-types.ts';

/** Exported event. */
export interface DataEvent {
  type: DataEventName;
  /** ID derived from the row, so that it is stable across reads. */
  id: string;
  workspaceId: string;
  userId: string;
  externalId: string | null;
  /** Unix milliseconds. */
  timeMs: number;
  properties: Record<string, unknown>;
}

/** Workspace with the names of campaigns, variants and platforms. */
export type NamedWorkspace = Pick<CampaignSet, 'campaigns' | 'appPlatforms'>;

/** Returns the workspace with an ID; `undefined` if unknown, so that names are `null`. */
export type FindWorkspace = (workspaceId: string) => NamedWorkspace | undefined;

type EventRow = FeedPage['events'][number];
type BannerEventRow = FeedPage['bannerEvents'][number];
type ChangeRow = FeedPage['userChanges'][number];

/** Converts a conversion to the format of the REST API. */
export const conversionBehavior = (conversion: Goal): Record<string, unknown> => ({
  type: 'event' in conversion ? 'Performs Custom Event' : 'Makes Specific Purchase',
  window: conversion.withinMs / SECOND_MS,
  ...('event' in conversion ? { custom_event_name: conversion.event } : { product: conversion.product }),
});

const campaignProperties = (
  campaign: Campaign | undefined,
  campaignId: string,
  variantId: string | null,
) => ({
  campaign_id: campaignId,
  campaign_name: campaign?.name ?? null,
  message_variation_id: variantId,
  message_variation_name: campaign?.variants.find((each) => each.variantId === variantId)?.name ?? null,
});

/** Creates a converter of a workspace's rows to events. */
export const createDataEvents = (workspaceId: string, workspace: NamedWorkspace | undefined) => {
  const campaigns = new Map(workspace?.campaigns.map((campaign) => [campaign.campaignId, campaign]));
  const findPlatform = (appId: string | null) => (appId && workspace?.appPlatforms.get(appId)) || null;
  const envelope = ({ userId, externalId }: { userId: number; externalId: string | null }) => ({
    workspaceId,
    userId: String(userId),
    externalId,
  });

  return {
    convertEvent(row: EventRow): DataEvent {
      const { eventId, appId, timeMs, properties } = row;
      const app = { app_id: appId, platform: findPlatform(appId) };
      const event = { ...envelope(row), timeMs };
      if (row.kind === 'event')
        return {
          type: 'users.behaviors.CustomEvent',
          id: hashId(workspaceId, 'event', eventId, row.name, timeMs),
          ...event,
          properties: { ...app, name: row.name, custom_properties: properties ?? {} },
        };
      const { productId, price, currency, quantity } = row;
      return {
        type: 'users.behaviors.Purchase',
        id: hashId(workspaceId, 'purchase', eventId, productId, timeMs),
        ...event,
        properties: {
          ...app,
          product_id: productId,
          price,
          currency,
          quantity,
          purchase_properties: properties ?? {},
        },
      };
    },

    /**
     * Converts a banner event. Returns `null` for test sends, and in the control group for all events except the first
     * impression.
     */
    convertBannerEvent(row: BannerEventRow): DataEvent | null {
      const { bannerEventId, bannerId, campaignId, variantId, eventType, isControl, isFirstOfType, appId } =
        row;
      if (row.isTestSend) return null;
      const timeMs = Math.min(row.timeMs, row.receivedAtMs);
      const event = {
        id: hashId(workspaceId, 'banner_event', bannerEventId, bannerId, eventType, row.timeMs),
        ...envelope(row),
        timeMs,
      };
      const campaign = campaignProperties(campaigns.get(campaignId), campaignId, variantId);
      if (isControl) {
        if (eventType !== 'impression' || !isFirstOfType) return null;
        const type = 'users.campaigns.EnrollInControl';
        return { type, ...event, properties: { app_id: appId, ...campaign } };
      }
      return {
        type: MEASURE_BY_TYPE[eventType].dataEvent,
        ...event,
        properties: {
          app_id: appId,
          ...campaign,
          banner_placement_id: row.placementId,
          platform: findPlatform(appId),
          language: row.language,
          is_unique: isFirstOfType,
          ...(eventType !== 'impression' && { button_id: row.buttonId }),
        },
      };
    },

    convertConversion(row: FeedConversion): DataEvent {
      const { eventId, campaignId, variantId, goal, timeMs, revenue, currency } = row;
      const campaign = campaigns.get(campaignId);
      const index = campaign?.goals.findIndex((each) => formatGoal(each) === goal) ?? -1;
      return {
        type: 'users.campaigns.Conversion',
        id: hashId(workspaceId, 'conversion', eventId, campaignId, goal, timeMs),
        ...envelope(row),
        timeMs,
        properties: {
          ...campaignProperties(campaign, campaignId, variantId),
          conversion_behavior_index: index < 0 ? null : index,
          conversion_behavior: JSON.stringify(conversionBehavior(parseGoal(goal))),
          revenue,
          currency: currency || null,
        },
      };
    },

    /**
     * Converts a change of a user. Returns `null` for changes that are not events, such as users whom retention removed and rows
     * that a merge removed.
     */
    convertChange({ changeId, userId, kind, intoUserId, changedAtMs: timeMs }: ChangeRow): DataEvent | null {
      const event = { ...envelope({ userId, externalId: null }), timeMs };
      const id = hashId(workspaceId, 'user_change', changeId, kind, userId, timeMs);
      if (kind === 'erased') return { type: 'users.UserDeleteRequest', id, ...event, properties: {} };
      if (kind !== 'merged') return null;
      const properties = { orphaned_by_id: String(intoUserId) };
      return { type: 'users.UserOrphan', id, ...event, properties };
    },
  };
};
