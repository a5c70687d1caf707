/** Limits of the wire contract. Bytes are UTF-8 bytes; characters are Unicode code points. */
const MB = 1024 * 1024;
const KB = 1024;

export const MAX_BODY_BYTES = 4 * MB;
export const MAX_BULK_BODY_BYTES = 2 * MB;
export const MAX_TRACK_OBJECTS = 75;
export const MAX_BULK_OBJECTS = 1_000;
export const MAX_BULK_OBJECTS_PER_USER = 100;
export const MAX_PROFILE_ENTRIES = 50;

export const MAX_EXTERNAL_ID_BYTES = 987;
/** One byte less than in user tracking, because the banner endpoints require fewer than 987 bytes. */
export const MAX_EXTERNAL_USER_ID_BYTES = 986;
export const MAX_ALIAS_BYTES = 236;
export const MAX_EMAIL_CHARACTERS = 256;
export const MAX_APP_VERSION_CHARACTERS = 255;
export const MAX_BANNER_DEVICE_ID_BYTES = 1_011;
export const MIN_DEVICE_ID_BYTES = 8;
export const MAX_DEVICE_ID_BYTES = 255;

export const MAX_NAME_CHARACTERS = 255;
export const MAX_STRING_CHARACTERS = 255;
export const MAX_IMAGE_URL_CHARACTERS = 1_024;
export const MAX_ARRAY_ELEMENTS = 500;
export const MAX_NESTED_BYTES = 100 * KB;
export const MAX_NESTED_DEPTH = 50;
/**
 * Maximum number of object properties written by the `$update`s of one request, including repeated writes. Placard limit, not
 * part of the contract. A list of 100 KB usually has a few thousand properties, and 25,600 at most, but a bulk request may update
 * a thousand lists.
 */
export const MAX_UPDATED_MEMBERS = 250_000;
export const MAX_PROPERTY_KEYS = 256;
export const MAX_EVENT_PROPERTIES_BYTES = 100 * KB;
export const MAX_PURCHASE_PROPERTIES_BYTES = 50 * KB;
/**
 * Maximum number of custom attributes of a profile. Placard limit, not part of the contract. Each may have 100 KB, and a profile
 * is stored in one row, which must fit into memory.
 */
export const MAX_CUSTOM_ATTRIBUTES = 2_000;
/** Maximum number of push tokens of a profile, each with a device, and maximum size of a token. Placard limits. */
export const MAX_PUSH_TOKENS = 1_000;
export const MAX_PUSH_TOKEN_BYTES = 4 * KB;
/** Maximum number of distinct event names, and of distinct product IDs, of a profile. Only scripts exceed it. */
export const MAX_EVENT_NAMES = 20_000;
export const MAX_PURCHASE_QUANTITY = 100;
/**
 * Placard limit, not part of the contract. Prices are summed and squared, so a single unbounded price would make every sum
 * infinite.
 */
export const MAX_PRICE = 1e12;

export const INTEGRATIONS_PAGE_SIZE = 10;
export const MAX_PLACEMENTS = 10;
/** Placard limit, not part of the contract. */
export const MAX_PLACEMENT_ID_CHARACTERS = 255;
/** Placard limit, not part of the contract. The SDK sends 50 per request. */
export const MAX_TRACK_EVENTS = 1_000;
/**
 * Body limits of the banner endpoints, which are callable with the public client key. Placard limits; the contract allows 4 MB. A
 * sync of ten placements with maximum lengths has 20 KB; 1,000 events with Placard's banner IDs have 300 KB.
 */
export const MAX_SYNC_BODY_BYTES = 64 * KB;
export const MAX_TRACK_BODY_BYTES = 512 * KB;
/**
 * Maximum number of JSON values of a body, because each costs parsing time and memory. Placard limits. A banner event has four
 * values, a sync of ten placements sixteen, and the largest user event about 260.
 */
export const MAX_SYNC_VALUES = 1_000;
export const MAX_TRACK_VALUES = 10 * MAX_TRACK_EVENTS;
export const MAX_USERS_TRACK_VALUES = 40_000;
export const MAX_PROFILE_VALUES = 10_000;
/** Maximum number of events in a batch. The contract limits only the body; smaller batches make a failed request cheaper. */
export const MAX_TRACK_BATCH = 50;
/** Maximum number of characters of a `button_id`. */
export const MAX_BUTTON_ID = 255;
/** Maximum number of languages of a campaign in addition to its own. Placard limit. */
export const MAX_LANGUAGES = 100;
/** Maximum total size of a workspace's drafts, because the campaign list returns all of them. Most have 2 to 5 KB. Placard limit. */
export const MAX_DRAFTS_BYTES = 2 * 1024 * KB;
