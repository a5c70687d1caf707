import * as z from 'zod/mini';
import type { Faults } from '../identity.ts';
import {
  MAX_ALIAS_BYTES,
  MAX_BULK_OBJECTS,
  MAX_EMAIL_CHARACTERS,
  MAX_EXTERNAL_ID_BYTES,
  MAX_NAME_CHARACTERS,
  MAX_PRICE,
  MAX_PURCHASE_QUANTITY,
  MAX_TRACK_OBJECTS,
} from '../limits.ts';
import { readAttributesUser } from '../read-attributes-user.ts';
import { readUserEvent } from '../read-user-event.ts';
import { INPUT_ARRAYS, type UsersTrackAnswer } from '../users-track.ts';
import { bytes, characters } from './text.ts';

// The schemas say how an object is written that is taken without an entry in `errors`, but for the values of attributes.
// Each asks the reader of its objects as well, so that it holds what JSON Schema has no words for.

const flag = z.nullish(z.boolean());

/** At most one of the first three; `email` and `phone` look up when none of them is there. `null` and `""` are as good as absent. */
const identifiers = {
  external_id: z.nullish(z.union([bytes(MAX_EXTERNAL_ID_BYTES, 0), z.int()])),
  user_alias: z.nullish(
    z.union([
      z.literal(''),
      z.object({ alias_name: bytes(MAX_ALIAS_BYTES), alias_label: bytes(MAX_ALIAS_BYTES) }),
    ]),
  ),
  braze_id: z.nullish(z.string()),
  email: z.nullish(characters(MAX_EMAIL_CHARACTERS, 0)),
  phone: z.nullish(z.string()),
  _update_existing_only: flag,
};

/** Whether a reader takes the value without a fault. */
const isSound = (read: (value: unknown, blocked: ReadonlySet<string>, faults: Faults) => unknown) => {
  const none = new Set<string>();
  return z.refine((value: unknown) => {
    let isFaulty = false;
    const add = () => {
      isFaulty = true;
    };
    return read(value, none, { add }) !== null && !isFaulty;
  });
};

/** Standard and custom attributes of one user. */
const attributesObject = z
  .looseObject({ ...identifiers, _merge_objects: flag, push_token_import: flag })
  .check(isSound(readAttributesUser));

/** `time` is ISO 8601. An `app_id` that the workspace does not have is left out. */
const atTime = {
  app_id: z.optional(z.unknown().check(z.meta({ type: 'string' }))),
  time: z.string(),
  properties: z.nullish(z.record(z.string(), z.unknown())),
};

/** One thing a user did. */
const eventObject = z
  .looseObject({ ...identifiers, ...atTime, name: characters(MAX_NAME_CHARACTERS) })
  .check(isSound((object, blocked, faults) => readUserEvent(object, 'event', blocked, faults)));

/** One purchase. `price` is in the currency's major unit; `quantity` defaults to 1. */
const purchaseObject = z
  .looseObject({
    ...identifiers,
    ...atTime,
    product_id: z.union([characters(MAX_NAME_CHARACTERS), z.int()]),
    currency: z.string(),
    price: z.number().check(z.gte(-MAX_PRICE), z.lte(MAX_PRICE)),
    quantity: z.nullish(z.int().check(z.gte(1), z.lte(MAX_PURCHASE_QUANTITY))),
  })
  .check(isSound((object, blocked, faults) => readUserEvent(object, 'purchase', blocked, faults)));

/** At least one object, and at most `max` over all arrays. */
const requestOf = (max: number) => {
  const arrayOf = <T extends z.ZodMiniType>(object: T) => z.nullish(z.array(object).check(z.maxLength(max)));
  return z
    .object({
      attributes: arrayOf(attributesObject),
      events: arrayOf(eventObject),
      purchases: arrayOf(purchaseObject),
    })
    .check(
      z.refine((body) => {
        const count = INPUT_ARRAYS.reduce((sum, name) => sum + (body[name]?.length ?? 0), 0);
        return count > 0 && count <= max;
      }),
    );
};

/** Body of `POST /users/track`. */
export const usersTrackRequest = requestOf(MAX_TRACK_OBJECTS);
/** Body of `POST /users/track/bulk`. */
export const usersTrackBulkRequest = requestOf(MAX_BULK_OBJECTS);

/** 201 of both. */
export const usersTrackAnswer = z.object({
  message: z.string(),
  attributes_processed: z.optional(z.number()),
  events_processed: z.optional(z.number()),
  purchases_processed: z.optional(z.number()),
  errors: z.optional(z.array(z.unknown())),
}) satisfies z.ZodMiniType<UsersTrackAnswer>;

const count = z.catch(z.optional(z.number()), undefined);

/** What a backend reads of any 2xx: `message` decides by itself, and another server may send `null` for what it leaves out. */
export const usersTrackSuccess = z.object({
  message: z.string(),
  attributes_processed: count,
  events_processed: count,
  purchases_processed: count,
  errors: z.optional(z.unknown()),
});
