export const USERS_TRACK_PATH = '/users/track';

export const INPUT_ARRAYS = ['attributes', 'events', 'purchases'] as const;
/** Array of a `/users/track` body. */
export type InputArray = (typeof INPUT_ARRAYS)[number];

export const isInputArray = (value: unknown): value is InputArray =>
  INPUT_ARRAYS.some((array) => array === value);

export interface UserAlias {
  alias_name: string;
  alias_label: string;
}

/** Properties that identify a user, in order of precedence. `users/track` rejects an object with several of the first three. */
export const IDENTIFIERS = ['external_id', 'user_alias', 'braze_id', 'email', 'phone'] as const;
export type IdentifierName = (typeof IDENTIFIERS)[number];

/** Members of an object of `attributes` that are flags, besides `_update_existing_only`, which every object may have. */
export const ATTRIBUTES_FLAGS = ['_merge_objects', 'push_token_import'] as const;

/** Identifier of a user in an object of `users/track`. */
export type Identifier =
  | { by: Exclude<IdentifierName, 'user_alias'>; value: string }
  | { by: 'user_alias'; value: UserAlias };

/**
 * Identifiers of an object: at most one of the first three. `email` and `phone` identify the user if none of the three is set.
 */
interface UserIdentifiers {
  external_id?: string | number | null | undefined;
  user_alias?: UserAlias | null | undefined;
  braze_id?: string | null | undefined;
  email?: string | null | undefined;
  phone?: string | null | undefined;
  _update_existing_only?: boolean | null | undefined;
}

/** Standard and custom attributes of one user. */
export interface AttributesObject extends UserIdentifiers {
  [attribute: string]: unknown;
}

/** Custom event of a user. `time` is ISO 8601. */
export interface EventObject extends UserIdentifiers {
  app_id?: string | undefined;
  name: string;
  time: string;
  properties?: Record<string, unknown> | null | undefined;
  [unknown: string]: unknown;
}

/** Purchase of a user. `price` is in the currency's major unit; `quantity` defaults to 1. */
export interface PurchaseObject extends UserIdentifiers {
  app_id?: string | undefined;
  product_id: string | number;
  currency: string;
  price: number;
  quantity?: number | null | undefined;
  time: string;
  properties?: Record<string, unknown> | null | undefined;
  [unknown: string]: unknown;
}

/** Entry of `errors`. `index` is the position in the named array as sent. */
export interface TrackErrorEntry {
  type: string;
  input_array?: InputArray;
  index?: number;
}
