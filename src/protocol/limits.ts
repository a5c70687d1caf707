/** Bounds of the wire contract. Bytes are UTF-8 bytes, characters are Unicode code points. */
const MB = 1024 * 1024;
const KB = 1024;

export const MAX_BODY_BYTES = 4 * MB;
export const MAX_BULK_BODY_BYTES = 2 * MB;
export const MAX_TRACK_OBJECTS = 75;
export const MAX_BULK_OBJECTS = 1_000;
export const MAX_BULK_OBJECTS_PER_USER = 100;
export const MAX_PROFILE_ENTRIES = 50;

export const MAX_EXTERNAL_ID_BYTES = 987;
/** The banner endpoints say "fewer than 987 bytes", one less than user tracking. */
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
 * Members of objects that the `$update`s of one request may write, each as often as it is written. Ours: the contract sets no bound. A
 * list of 100 KB has a few thousand members as a rule, and 25,600 at most, but a bulk request may update a thousand lists.
 */
export const MAX_UPDATED_MEMBERS = 250_000;
export const MAX_PROPERTY_KEYS = 256;
export const MAX_EVENT_PROPERTIES_BYTES = 100 * KB;
export const MAX_PURCHASE_PROPERTIES_BYTES = 50 * KB;
/**
 * Custom attributes of one profile. Ours: the contract sets no bound. Each may have 100 KB, and a profile is one value of one row: a
 * database, and the memory that reads it, must be able to hold all of them.
 */
export const MAX_CUSTOM_ATTRIBUTES = 2_000;
/** Push tokens of one profile, each with a device, and how long one may be. Ours as well. */
export const MAX_PUSH_TOKENS = 1_000;
export const MAX_PUSH_TOKEN_BYTES = 4 * KB;
/** Event names, and product IDs, of one profile: a user who has done so many different things is a script. */
export const MAX_EVENT_NAMES = 20_000;
export const MAX_PURCHASE_QUANTITY = 100;
/** The contract sets no bound. A price is added up and squared: without one a single purchase would make every sum endless. */
export const MAX_PRICE = 1e12;

export const INTEGRATIONS_PAGE_SIZE = 10;
export const MAX_PLACEMENTS = 10;
/** Ours: the contract sets no bound. */
export const MAX_PLACEMENT_ID_CHARACTERS = 255;
/** Ours: the contract sets no bound. The SDK sends 50 at once. */
export const MAX_TRACK_EVENTS = 1_000;
/**
 * Bodies of the banner endpoints, which anyone may call who has read a page. Ours: the contract has 4 MB in general. A
 * sync of ten placements with all members at their longest has 20 KB, 1,000 events with the IDs of our banners 300 KB.
 */
export const MAX_SYNC_BODY_BYTES = 64 * KB;
export const MAX_TRACK_BODY_BYTES = 512 * KB;
/**
 * JSON values that a body may hold, ours too: a parser needs time and memory for each. An event of a banner is four of
 * them, a sync of ten placements sixteen, the largest event of a user some 260.
 */
export const MAX_SYNC_VALUES = 1_000;
export const MAX_TRACK_VALUES = 10 * MAX_TRACK_EVENTS;
export const MAX_USERS_TRACK_VALUES = 40_000;
export const MAX_PROFILE_VALUES = 10_000;
/** The contract sets no bound but the body; smaller batches keep one bad answer cheap. */
export const MAX_TRACK_BATCH = 50;
