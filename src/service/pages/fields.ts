import {
  MAX_ALIAS_BYTES,
  MAX_APP_VERSION_CHARACTERS,
  MAX_BANNER_DEVICE_ID_BYTES,
  MAX_EMAIL_CHARACTERS,
  MAX_EVENT_PROPERTIES_BYTES,
  MAX_EXTERNAL_ID_BYTES,
  MAX_EXTERNAL_USER_ID_BYTES,
  MAX_NAME_CHARACTERS,
  MAX_PLACEMENTS,
  MAX_PRICE,
  MAX_PURCHASE_PROPERTIES_BYTES,
  MAX_PURCHASE_QUANTITY,
} from '../../protocol/index.ts';

const kilobytes = (bytes: number) => `${bytes / 1024} KB`;

/**
 * What each field of a request or an answer is: by its name, or by `operation: path` where the same name means something
 * else. The schemas say the rest.
 */
const FIELDS: Readonly<Record<string, string>> = {
  // Users
  external_id: `ID of the user in your system, at most ${MAX_EXTERNAL_ID_BYTES} bytes.`,
  user_alias: 'Another name of the user, in place of `external_id`.',
  alias_name: `The name, at most ${MAX_ALIAS_BYTES} bytes.`,
  alias_label: `What kind of name it is, at most ${MAX_ALIAS_BYTES} bytes.`,
  braze_id: 'ID that the service gave the user, in place of `external_id`.',
  email: `E-mail address, at most ${MAX_EMAIL_CHARACTERS} characters; it names the user where no ID and no alias does.`,
  phone: 'Phone number with its country code; it names the user where no ID, alias or e-mail does.',
  _merge_objects:
    '`true`: a nested attribute is merged with the stored one. Default `false`: it replaces it.',
  push_token_import: '`true`: the object may name a user by its push tokens alone. Default `false`.',
  _update_existing_only: '`true`: no new user is made. Default `false`.',
  app_id: 'App of the workspace where it happened.',

  // Tracking
  attributes: 'Standard attributes by their names; every other member is a custom attribute.',
  events: 'What users did.',
  purchases: 'What users bought.',
  name: `Name of the event, at most ${MAX_NAME_CHARACTERS} characters.`,
  time: 'When it happened, in ISO 8601; a time in the future becomes now.',
  properties: `Anything else about it, at most ${kilobytes(MAX_EVENT_PROPERTIES_BYTES)}.`,
  'trackUsers: purchases[].properties': `Anything else about it, at most ${kilobytes(MAX_PURCHASE_PROPERTIES_BYTES)}.`,
  'trackUsersInBulk: purchases[].properties': `Anything else about it, at most ${kilobytes(MAX_PURCHASE_PROPERTIES_BYTES)}.`,
  product_id: `ID of the product, at most ${MAX_NAME_CHARACTERS} characters.`,
  currency: 'Code of ISO 4217, such as `EUR`.',
  price: `Price of one, in the main unit of the currency, from -${MAX_PRICE} to ${MAX_PRICE}.`,
  quantity: `How many, 1 to ${MAX_PURCHASE_QUANTITY}. Default 1.`,
  attributes_processed: 'Attribute objects that were stored.',
  events_processed: 'Events that were stored, or counted before.',
  purchases_processed: 'Purchases that were stored.',
  message: '`success`, or what is wrong.',
  errors: 'What is wrong with single objects, by array and index; absent where nothing is.',

  // Banners
  external_user_id: `ID of the user, at most ${MAX_EXTERNAL_USER_ID_BYTES} bytes.`,
  'syncBanners: app_id': 'App that asks, one of the workspace.',
  'trackBanners: app_id': 'App that asks, one of the workspace.',
  app_version: `Version of the app, at most ${MAX_APP_VERSION_CHARACTERS} characters.`,
  placements: `IDs of placements; the first ${MAX_PLACEMENTS} different ones are answered.`,
  'syncBanners: device_id': `Device of the user, at most ${MAX_BANNER_DEVICE_ID_BYTES} bytes; texts may print it.`,
  banners: 'By placement: its banner, or `null` where there is none for this user.',
  id: 'ID of the banner, from a sync.',
  placement_id: 'The placement.',
  is_control: '`true`: the user is held out. Show nothing, and record the impression.',
  is_test_send: '`true`: the user is a test user of the campaign. Events are not counted.',
  expires_at: 'When the page must stop showing it, in Unix seconds; -1 is never.',
  'syncBanners: banners.*.properties': 'What the banner holds, by name; `null` of a control.',
  type: '`string`, `number`, `boolean`, `image`, `jsonobject` or `datetime`.',
  value: 'Of that type; a `datetime` is Unix milliseconds.',
  'trackBanners: events': 'What the user saw and did.',
  event_type: 'What happened.',
  timestamp: 'When it happened, in ISO 8601 with milliseconds.',

  'joinVisitor: app_id': 'App that asks, one of the workspace.',

  // Campaigns
  'explain: app_id': 'App that the user would see them in. Default the only one of the workspace.',
  'explain: app_version': 'Version of the app, for audiences that ask for it.',
  'explain: device_id': 'Device of the user; texts may print it.',
  'explain: placements':
    'In the request IDs of placements, default all that campaigns name; in the answer by placement its campaigns in order, each with `campaign_id`, `name`, `outcome`, `why` and the facts of the outcome.',
  has_profile: 'Whether the service has a profile of the user.',
  token: 'What the link of a preview carries in `placard_preview`.',
  campaign_name: 'Name of the campaign that is previewed.',
  'preview: banners': 'By placement, as a sync answers them.',

  // Integrations
  results: 'At most ten.',
  job_status: '`Running`, `Success`, `Partial` (some rows were rejected) or `Error`.',
  sync_start_time: 'When the run began, ISO 8601.',
  sync_finish_time: 'When it ended; empty while it runs.',
  last_timestamp_synced: '`UPDATED_AT` of the last row that was read; empty before the first.',
  rows_synced: 'Rows that are stored.',
  rows_failed_with_errors: 'Rows that were rejected.',
  integration_id: 'ID of the integration.',
  app_group_id: 'ID of the workspace.',
  integration_name: 'For people.',
  integration_type: 'What it syncs.',
  integration_status: 'Whether it is active.',
  contact_emails: 'Whom to ask, separated by commas.',
  last_updated_at: 'When it was changed.',
  warehouse_type: 'Where it reads from.',
  last_job_start_time: 'When it last ran.',
  last_job_status: 'How that ended.',
  next_scheduled_run: 'When it runs next.',
};

export interface Schema {
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  enum?: unknown[];
  maxItems?: number;
}

/** The same schema with a description of each field that has none. */
export const described = (schema: Schema, operationId: string, path = ''): Schema => {
  const inside = (name: string) => (path === '' ? name : `${path}.${name}`);
  const { properties, items, additionalProperties, anyOf } = schema;
  return {
    ...schema,
    ...(items && { items: described(items, operationId, `${path}[]`) }),
    ...(anyOf && { anyOf: anyOf.map((each) => described(each, operationId, path)) }),
    ...(typeof additionalProperties === 'object' && {
      additionalProperties: described(additionalProperties, operationId, inside('*')),
    }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, member]) => {
          const words = member.description ?? FIELDS[`${operationId}: ${inside(name)}`] ?? FIELDS[name];
          const field = described(member, operationId, inside(name));
          return [name, words === undefined ? field : { ...field, description: words }];
        }),
      ),
    }),
  };
};
