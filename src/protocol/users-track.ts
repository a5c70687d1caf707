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

/** Names the user an object is about: one of the first three, or else `email` or `phone`. */
export interface UserIdentifiers {
  /** Your own ID of the user, at most 987 bytes. */
  external_id?: string | number | null | undefined;
  /** An alias of the user; both members have 1 to 236 bytes. */
  user_alias?: { alias_name: string; alias_label: string } | null | undefined;
  /** The ID that the service gave the user. */
  braze_id?: string | null | undefined;
  /** Finds the user, and creates one who has it. */
  email?: string | null | undefined;
  /** Finds the user, in E.164 form, and creates one who has it. */
  phone?: string | null | undefined;
  /** `true`: an object for a user who is not there yet is left out. Default false. */
  _update_existing_only?: boolean | undefined;
}

/** Standard and custom attributes of one user. `null` takes an attribute away. */
export interface AttributesObject extends UserIdentifiers {
  [attribute: string]: unknown;
}
export const attributesObject = z.catchall(
  z.object(identifiers),
  z.unknown(),
) satisfies z.ZodMiniType<AttributesObject>;

/** One thing a user did. */
export interface EventObject extends UserIdentifiers {
  [member: string]: unknown;
  /** The app it happened in. */
  app_id?: string | undefined;
  /** 1 to 255 characters. */
  name: string;
  /** ISO 8601, with an offset. */
  time: string;
  /** At most 100 kB of JSON. */
  properties?: Record<string, unknown> | undefined;
}
export const eventObject = z.looseObject({
  ...identifiers,
  app_id: z.optional(z.string()),
  name,
  time: z.string(),
  properties: z.optional(z.record(z.string(), z.unknown())),
}) satisfies z.ZodMiniType<EventObject>;

/** One purchase. */
export interface PurchaseObject extends UserIdentifiers {
  [member: string]: unknown;
  /** The app it happened in. */
  app_id?: string | undefined;
  /** 1 to 255 characters. */
  product_id: string | number;
  /** ISO 4217, such as `EUR`. */
  currency: string;
  /** In the currency's major unit: 9.5 is nine euros and fifty cents. */
  price: number;
  /** 1 to 100. Default 1. */
  quantity?: number | undefined;
  /** ISO 8601, with an offset. */
  time: string;
  /** At most 50 kB of JSON. */
  properties?: Record<string, unknown> | undefined;
}
export const purchaseObject = z.looseObject({
  ...identifiers,
  app_id: z.optional(z.string()),
  product_id: z.union([name, z.number()]),
  currency: z.string(),
  price: z.number(),
  quantity: z.optional(z.number()),
  time: z.string(),
  properties: z.optional(z.record(z.string(), z.unknown())),
}) satisfies z.ZodMiniType<PurchaseObject>;

export const INPUT_ARRAYS = ['attributes', 'events', 'purchases'] as const;
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
