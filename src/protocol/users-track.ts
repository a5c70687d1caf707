import * as z from 'zod/mini';
import {
  MAX_ALIAS_BYTES,
  MAX_BULK_OBJECTS,
  MAX_EXTERNAL_ID_BYTES,
  MAX_NAME_CHARACTERS,
  MAX_TRACK_OBJECTS,
} from './limits.ts';

export const USERS_TRACK_PATH = '/users/track';

const aliasText = z.string().check(z.minLength(1), z.maxLength(MAX_ALIAS_BYTES));
const name = z.string().check(z.minLength(1), z.maxLength(MAX_NAME_CHARACTERS));

/** Identifiers of one object: at most one of the first three, `email` and `phone` look up when none of them is there. */
const identifiers = {
  external_id: z.optional(
    z.nullable(z.union([z.string().check(z.maxLength(MAX_EXTERNAL_ID_BYTES)), z.number()])),
  ),
  user_alias: z.optional(z.nullable(z.object({ alias_name: aliasText, alias_label: aliasText }))),
  braze_id: z.optional(z.nullable(z.string())),
  email: z.optional(z.nullable(z.string())),
  phone: z.optional(z.nullable(z.string())),
  _update_existing_only: z.optional(z.boolean()),
};

/** Standard and custom attributes of one user. */
export const attributesObject = z.catchall(z.object(identifiers), z.unknown());
/** Standard and custom attributes of one user. */
export type AttributesObject = z.infer<typeof attributesObject>;

/** One thing a user did. `time` is ISO 8601. */
export const eventObject = z.looseObject({
  ...identifiers,
  app_id: z.optional(z.string()),
  name,
  time: z.string(),
  properties: z.optional(z.record(z.string(), z.unknown())),
});
/** One thing a user did. `time` is ISO 8601. */
export type EventObject = z.infer<typeof eventObject>;

/** One purchase. `price` is in the currency's major unit; `quantity` defaults to 1. */
export const purchaseObject = z.looseObject({
  ...identifiers,
  app_id: z.optional(z.string()),
  product_id: z.union([name, z.number()]),
  currency: z.string(),
  price: z.number(),
  quantity: z.optional(z.number()),
  time: z.string(),
  properties: z.optional(z.record(z.string(), z.unknown())),
});
/** One purchase. `price` is in the currency's major unit; `quantity` defaults to 1. */
export type PurchaseObject = z.infer<typeof purchaseObject>;

export const INPUT_ARRAYS = ['attributes', 'events', 'purchases'] as const;
/** The arrays of `/users/track`. */
export type InputArray = (typeof INPUT_ARRAYS)[number];

/** `most` objects in each array, and over all of them. */
const requestOf = (most: number) =>
  z.object({
    attributes: z.optional(z.array(attributesObject).check(z.maxLength(most))),
    events: z.optional(z.array(eventObject).check(z.maxLength(most))),
    purchases: z.optional(z.array(purchaseObject).check(z.maxLength(most))),
  });

/** Body of `POST /users/track`. */
export const usersTrackRequest = requestOf(MAX_TRACK_OBJECTS);
/** Body of `POST /users/track/bulk`. */
export const usersTrackBulkRequest = requestOf(MAX_BULK_OBJECTS);
export type UsersTrackRequest = z.infer<typeof usersTrackRequest>;

/** An entry of `errors`: `index` is the position in the named array as it was sent. */
export interface TrackErrorEntry {
  type: string;
  input_array?: InputArray;
  index?: number;
}

/** 201. A count is there only for an array that was sent; entries of `errors` may be plain text elsewhere in the family. */
export const usersTrackAnswer = z.object({
  message: z.string(),
  attributes_processed: z.optional(z.number()),
  events_processed: z.optional(z.number()),
  purchases_processed: z.optional(z.number()),
  errors: z.optional(z.array(z.unknown())),
});
export type UsersTrackAnswer = z.infer<typeof usersTrackAnswer>;

const count = z.catch(z.optional(z.number()), undefined);

/** What a backend reads of any 2xx: `message` decides by itself, and another server may send `null` for what it leaves out. */
export const usersTrackSuccess = z.object({
  message: z.string(),
  attributes_processed: count,
  events_processed: count,
  purchases_processed: count,
  errors: z.optional(z.unknown()),
});
