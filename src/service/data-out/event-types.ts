import { getKeys, mapKeys } from '../../protocol/index.ts';
import { MEASURE_BY_TYPE, MEASURES } from '../measures.ts';

export type ColumnType = 'string' | 'int' | 'long' | 'double' | 'boolean' | 'json';

interface EventType {
  /** `type` of a CloudEvent. */
  cloudEvent: string;
  /** Types of the columns that follow the common columns of a file, by name. */
  columns: Readonly<Record<string, ColumnType>>;
  /** Property that contains an object. In files, the column `properties` contains it as JSON. */
  json?: string;
}

const CAMPAIGN = {
  campaign_id: 'string',
  campaign_name: 'string',
  message_variation_id: 'string',
  message_variation_name: 'string',
} as const;

const BANNER = {
  app_id: 'string',
  ...CAMPAIGN,
  banner_placement_id: 'string',
  platform: 'string',
  language: 'string',
  is_unique: 'boolean',
} as const;

const BUTTON = { ...BANNER, button_id: 'string' } as const;

/** All types of exported events. */
export const DATA_EVENTS = {
  ...mapKeys(
    MEASURES.map(({ dataEvent }) => dataEvent),
    (name) => ({
      cloudEvent: `placard.banner.${name.slice(name.lastIndexOf('.') + 1).toLowerCase()}`,
      columns: name === MEASURE_BY_TYPE.impression.dataEvent ? BANNER : BUTTON,
    }),
  ),
  'users.campaigns.EnrollInControl': {
    cloudEvent: 'placard.campaign.enroll_in_control',
    columns: { app_id: 'string', ...CAMPAIGN },
  },
  'users.campaigns.Conversion': {
    cloudEvent: 'placard.campaign.conversion',
    columns: {
      ...CAMPAIGN,
      conversion_behavior_index: 'int',
      conversion_behavior: 'string',
      revenue: 'double',
      currency: 'string',
    },
  },
  'users.behaviors.CustomEvent': {
    cloudEvent: 'placard.user.custom_event',
    columns: { app_id: 'string', platform: 'string', name: 'string', properties: 'json' },
    json: 'custom_properties',
  },
  'users.behaviors.Purchase': {
    cloudEvent: 'placard.user.purchase',
    columns: {
      app_id: 'string',
      platform: 'string',
      product_id: 'string',
      price: 'double',
      currency: 'string',
      quantity: 'int',
      properties: 'json',
    },
    json: 'purchase_properties',
  },
  'users.UserDeleteRequest': { cloudEvent: 'placard.user.delete_request', columns: {} },
  'users.UserOrphan': { cloudEvent: 'placard.user.orphan', columns: { orphaned_by_id: 'string' } },
} as const satisfies Record<string, EventType>;

export type DataEventName = keyof typeof DATA_EVENTS;

/** Name of a webhook event. A webhook receives alerts only if it lists `placard.alert`. */
export type WebhookEventName = DataEventName | 'placard.alert';

export const DATA_EVENT_NAMES = getKeys(DATA_EVENTS);

export const WEBHOOK_EVENT_NAMES: WebhookEventName[] = [...DATA_EVENT_NAMES, 'placard.alert'];

export const isDataEventName = (name: string): name is DataEventName => Object.hasOwn(DATA_EVENTS, name);

export const dataEventType = (name: DataEventName): EventType => DATA_EVENTS[name];
