import * as z from 'zod/mini';

export const USERS_TRACK_PATH = '/users/track';

/** Identifiers of one object: at most one of the first three, `email` and `phone` look up when none of them is there. */
const identifiers = {
  external_id: z.optional(z.nullable(z.union([z.string(), z.number()]))),
  user_alias: z.optional(z.nullable(z.object({ alias_name: z.string(), alias_label: z.string() }))),
  braze_id: z.optional(z.nullable(z.string())),
  email: z.optional(z.nullable(z.string())),
  phone: z.optional(z.nullable(z.string())),
  _update_existing_only: z.optional(z.boolean()),
};

/** Standard and custom attributes of one user. */
export const attributesObject = z.catchall(z.object(identifiers), z.unknown());
export type AttributesObject = z.infer<typeof attributesObject>;

/** One thing a user did. `time` is ISO 8601. */
export const eventObject = z.looseObject({
  ...identifiers,
  app_id: z.optional(z.string()),
  name: z.string(),
  time: z.string(),
  properties: z.optional(z.record(z.string(), z.unknown())),
});
export type EventObject = z.infer<typeof eventObject>;

/** One purchase. `price` is in the currency's major unit; `quantity` defaults to 1. */
export const purchaseObject = z.looseObject({
  ...identifiers,
  app_id: z.optional(z.string()),
  product_id: z.union([z.string(), z.number()]),
  currency: z.string(),
  price: z.number(),
  quantity: z.optional(z.number()),
  time: z.string(),
  properties: z.optional(z.record(z.string(), z.unknown())),
});
export type PurchaseObject = z.infer<typeof purchaseObject>;

export const INPUT_ARRAYS = ['attributes', 'events', 'purchases'] as const;
export type InputArray = (typeof INPUT_ARRAYS)[number];

/** Body of `POST /users/track`. */
export const usersTrackRequest = z.object({
  attributes: z.optional(z.array(attributesObject)),
  events: z.optional(z.array(eventObject)),
  purchases: z.optional(z.array(purchaseObject)),
});
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
