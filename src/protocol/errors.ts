import { MAX_CUSTOM_ATTRIBUTES, MAX_PUSH_TOKENS, MAX_UPDATED_MEMBERS } from './limits.ts';

/**
 * Error format of an endpoint. `general`: `{ message, errors: [{ type }] }` · `sync`: `{ error }` · `track`: `{ message }`, and
 * `errors` if single events are invalid.
 */
export type ErrorFormat = 'general' | 'sync' | 'track';

export const errorBody = (dialect: ErrorFormat, text: string): Record<string, unknown> => {
  if (dialect === 'sync') return { error: text };
  if (dialect === 'track') return { message: text };
  return { message: text, errors: [{ type: text }] };
};

/** Properties of an error response that a client reads. */
export interface ErrorBody {
  /** Human-readable message; `undefined` if none. */
  text: string | undefined;
  /** Entries that describe the problems; empty if none. */
  errors: unknown[];
}

/** Parses an error response of any endpoint. Any property may be missing, and a proxy may send any body. */
export const readErrorBody = (body: unknown): ErrorBody => {
  const { message, error, errors }: Record<string, unknown> = Object(body);
  return {
    text: [message, error].find((text) => typeof text === 'string'),
    errors: Array.isArray(errors) ? errors : [],
  };
};

/** Messages of fatal errors. Clients rely on the status code only. */
export const ERROR_MESSAGES = {
  invalidCursor: 'Invalid cursor',
  invalidKey: 'Invalid API key',
  invalidUserToken: 'Invalid user token',
  accessDenied: 'Access Denied',
  noIntegrationList: 'Integration list not found',
  notFound: 'Not Found',
  methodNotAllowed: 'Method Not Allowed',
  tooLarge: 'Request Entity Too Large',
  unsupportedMediaType: 'Unsupported Media Type',
  overRateLimit: 'Over rate limit',
  anotherJob: 'Another job is in progress',
  internal: 'Internal Server Error',
  unavailable: 'Service Unavailable',
  inDoubt: 'Gateway Timeout',
  unparseable: 'Error while parsing request body. Please check your syntax.',
  noValidData: "Valid data must be provided in the 'attributes', 'events', or 'purchases' fields.",
  tooManyObjects: 'Max Input Length Exceeded',
  tooManyObjectsPerUser: 'Max objects per user exceeded',
  noValidEvents: 'No valid events provided.',
  notAnObject: 'Request body must be a JSON object',
  unknownApp: "'app_id' is not valid: the workspace of this API key has no app with this ID",
} as const;

/** Codes of `type` in `errors` of `/users/track`. */
export const TRACK_ERROR = {
  identifierRequired: "'external_id', 'braze_id', 'user_alias', 'email' or 'phone' is required",
  severalPrimaries: "Only one of 'external_id', 'user_alias' or 'braze_id' is allowed",
  blockedExternalId: 'BLACKLISTED_EXTERNAL_USER_ID',
  externalIdTooLarge: 'EXTERNAL_USER_ID_TOO_LARGE',
  emailBadFormat: 'EMAIL_BAD_FORMAT',
  badEmailSubscriptionState: 'BAD_EMAIL_SUBSCRIPTION_STATE',
  badPushSubscriptionState: 'BAD_PUSH_SUBSCRIPTION_STATE',
  badLocationUpdate: 'BAD_LOCATION_UPDATE',
  emailSubscriptionInfo: 'INVALID_ATTRIBUTE_EMAIL_SUBSCRIPTION_INFO',
  badSubscriptionGroupArray: 'BAD_SUBSCRIPTION_GROUP_ARRAY',
  badSubscriptionGroupHash: 'BAD_SUBSCRIPTION_GROUP_HASH',
  badSubscriptionGroupId: 'BAD_SUBSCRIPTION_GROUP_ID',
  badSubscriptionGroupState: 'BAD_SUBSCRIPTION_GROUP_STATE',
  badPushTokenValue: 'BAD_PUSH_TOKEN_VALUE',
  badPushTokenImport: 'BAD_PUSH_TOKEN_IMPORT',
  badPushTokenString: 'BAD_PUSH_TOKEN_STRING',
  badPushTokenAppId: 'BAD_PUSH_TOKEN_APP_ID',
  badDeviceId: 'BAD_DEVICE_ID',
  invalidProperties: "Invalid 'properties' field",
} as const;

/** Message of a 413 if the drafts of a workspace exceed `MAX_DRAFTS_BYTES`. */
export const DRAFTS_TOO_LARGE = 'Draft limit (2 MB) reached. Publish or discard drafts';

export const required = (name: string): string => `'${name}' is required`;
export const notValid = (name: string): string => `'${name}' is not valid`;
export const invalidNested = (name: string): string => `Invalid nested custom attribute '${name}'`;

// Placard extensions, because the contract does not set these limits.
const count = (max: number): string => max.toLocaleString('en-US');
// Formatted once, because a request may have thousands of these errors.
const UPDATED_MEMBERS = count(MAX_UPDATED_MEMBERS);
const CUSTOM_ATTRIBUTES = count(MAX_CUSTOM_ATTRIBUTES);
export const tooManyUpdates = (name: string): string =>
  `'${name}' is not updated: the $update of one request may write ${UPDATED_MEMBERS} members of objects; send the rest in another request`;
export const tooManyAttributes = (name: string): string =>
  `'${name}' is not set: a user may have ${CUSTOM_ATTRIBUTES} custom attributes`;
export const tooManyPushTokens = (): string =>
  `'push_tokens' are not added: a user may have ${count(MAX_PUSH_TOKENS)}`;
