import * as z from 'zod/mini';
import { FATAL } from '../error-codes.ts';
import { MAX_BULK_OBJECTS, MAX_TRACK_OBJECTS } from '../limits.ts';
import { INPUT_ARRAYS, type InputArray, type UsersTrackAnswer } from '../users-track.ts';
import { described } from './text.ts';
import { attributesObject } from './user-attributes.ts';
import { eventObject, purchaseObject } from './user-events.ts';

const bodyOf = <A extends z.ZodMiniType, E extends z.ZodMiniType, P extends z.ZodMiniType>(
  attributes: A,
  event: E,
  purchase: P,
  ...bounds: z.core.$ZodCheck<unknown[]>[]
) => {
  const arrayOf = <T extends z.ZodMiniType>(name: InputArray, object: T, description: string) =>
    z
      .nullish(z.array(object, { error: `'${name}' must be an array of objects` }).check(...bounds))
      .check(described(description));
  return z.object(
    {
      attributes: arrayOf(
        'attributes',
        attributes,
        'Standard attributes by their names; every other member is a custom attribute.',
      ),
      events: arrayOf('events', event, 'What users did.'),
      purchases: arrayOf('purchases', purchase, 'What users bought.'),
    },
    { error: FATAL.noValidData },
  );
};

/** Body of both endpoints for a server, which counts the objects and judges each alone. */
export const usersTrackBody = bodyOf(z.unknown(), z.unknown(), z.unknown());

/** How it is written so that each object is taken without an entry in `errors`, but for the values of attributes. */
const requestOf = (max: number) =>
  bodyOf(attributesObject, eventObject, purchaseObject, z.maxLength(max)).check(
    z.refine((body) => {
      const count = INPUT_ARRAYS.reduce((sum, name) => sum + (body[name]?.length ?? 0), 0);
      return count > 0 && count <= max;
    }),
  );

/** Body of `POST /users/track`. */
export const usersTrackRequest = requestOf(MAX_TRACK_OBJECTS);
/** Body of `POST /users/track/bulk`. */
export const usersTrackBulkRequest = requestOf(MAX_BULK_OBJECTS);

const processed = (description: string) => z.optional(z.number()).check(described(description));

/** 201 of both. */
export const usersTrackAnswer = z.object({
  message: z.string().check(described('`success`, or what is wrong.')),
  attributes_processed: processed('Attribute objects that were stored.'),
  events_processed: processed('Events that were stored, or counted before.'),
  purchases_processed: processed('Purchases that were stored.'),
  errors: z
    .optional(z.array(z.unknown()))
    .check(described('What is wrong with single objects, by array and index; absent where nothing is.')),
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
