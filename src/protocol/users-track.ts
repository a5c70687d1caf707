export const USERS_TRACK_PATH = '/users/track';

export const INPUT_ARRAYS = ['attributes', 'events', 'purchases'] as const;
/** The arrays of `/users/track`. */
export type InputArray = (typeof INPUT_ARRAYS)[number];

export const isInputArray = (value: unknown): value is InputArray =>
  (INPUT_ARRAYS as readonly unknown[]).includes(value);

export interface UserAlias {
  alias_name: string;
  alias_label: string;
}

/** Members that name a user, in the order in which they count: of several that an entry has, the first looks up. */
export const IDENTIFIERS = ['external_id', 'user_alias', 'braze_id', 'email', 'phone'] as const;
export type IdentifierName = (typeof IDENTIFIERS)[number];

/** What names a user in an object of `users/track`. */
export type Identifier =
  | { by: Exclude<IdentifierName, 'user_alias'>; value: string }
  | { by: 'user_alias'; value: UserAlias };

/** Identifiers of one object: at most one of the first three; `email` and `phone` look up when none of them is there. */
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

/** One thing a user did. `time` is ISO 8601. */
export interface EventObject extends UserIdentifiers {
  app_id?: string | undefined;
  name: string;
  time: string;
  properties?: Record<string, unknown> | null | undefined;
  [unknown: string]: unknown;
}

/** One purchase. `price` is in the currency's major unit; `quantity` defaults to 1. */
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

/** An entry of `errors`: `index` is the position in the named array as it was sent. */
export interface TrackErrorEntry {
  type: string;
  input_array?: InputArray;
  index?: number;
}

/** 201. A count is there only for an array that was sent; entries of `errors` may be plain text elsewhere in the family. */
export interface UsersTrackAnswer {
  message: string;
  attributes_processed?: number | undefined;
  events_processed?: number | undefined;
  purchases_processed?: number | undefined;
  errors?: unknown[] | undefined;
}
