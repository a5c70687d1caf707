import * as z from 'zod/mini';
import { ERROR_MESSAGES, notValid, TRACK_ERROR } from '../errors.ts';
import { isPresent, isRecord } from '../json.ts';
import { MAX_BULK_OBJECTS, MAX_TRACK_OBJECTS } from '../limits.ts';
import { ATTRIBUTES_FLAGS, INPUT_ARRAYS, type InputArray } from '../users-track.ts';
import { described } from './body.ts';
import { checkIdentity, hasNoIssues, type Identity, type IssueCollector, identifiers } from './identity.ts';
import { eventObject, purchaseObject } from './user-events.ts';

/**
 * Maximum number of tokens of one anonymous import. Each token creates a profile, so the limit equals the maximum number of
 * objects of a request. The contract defines no limit and no error. The import error is used, because the object would otherwise
 * have no effect and still count as processed.
 */
const MAX_IMPORTED_TOKENS = MAX_TRACK_OBJECTS;

/** User of an object of `attributes`, with its flags. */
export interface AttributesUser {
  /** `null` for a token import without a user, which creates an anonymous profile per token. */
  identity: Identity | null;
  /** Whether the object imports tokens. Tokens that already belong to a user are skipped. */
  isTokenImport: boolean;
  mergeObjects: boolean;
}

/** Parses the user and flags of an object of `attributes`. Returns `null` if rejected, with the reason in `issues`. */
export const readAttributesUser = (
  object: unknown,
  blocked: ReadonlySet<string>,
  issues: IssueCollector,
): AttributesUser | null => {
  if (!isRecord(object)) {
    issues.add(TRACK_ERROR.identifierRequired);
    return null;
  }
  const { push_token_import, push_tokens, external_id, braze_id, user_alias, email, phone } = object;
  const isTokenImport = push_token_import === true;
  const isAnonymous = isTokenImport && ![user_alias, email, phone].some(isPresent);
  if (isTokenImport) {
    const tokens = Array.isArray(push_tokens) ? push_tokens.length : Number(push_tokens != null);
    const isTooMany = isAnonymous && tokens > MAX_IMPORTED_TOKENS;
    if (tokens === 0 || isTooMany || isPresent(external_id) || isPresent(braze_id)) {
      issues.add(TRACK_ERROR.badPushTokenImport);
      return null;
    }
  }
  const identity = isAnonymous ? null : checkIdentity(object, blocked, issues);
  if (!identity && !isAnonymous) return null;
  for (const flag of ATTRIBUTES_FLAGS) {
    const value = object[flag];
    if (value !== undefined && value !== null && typeof value !== 'boolean') issues.add(notValid(flag));
  }
  return { identity, isTokenImport, mergeObjects: object['_merge_objects'] === true };
};

/** Standard and custom attributes of a user, parsed without a schema like events. The service validates the values. */
const attributesObject = z
  .looseObject({
    ...identifiers,
    _merge_objects: z
      .nullish(z.boolean())
      .check(
        described(
          '`true`: a nested attribute is merged with the stored one. Default `false`: it replaces it.',
        ),
      ),
    push_token_import: z
      .nullish(z.boolean())
      .check(described('`true`: the object may name a user by its push tokens alone. Default `false`.')),
  })
  .check(hasNoIssues(readAttributesUser));

const createBodySchema = <A extends z.ZodMiniType, E extends z.ZodMiniType, P extends z.ZodMiniType>(
  attributes: A,
  event: E,
  purchase: P,
  ...bounds: z.core.$ZodCheck<unknown[]>[]
) => {
  const createArraySchema = <T extends z.ZodMiniType>(name: InputArray, object: T, description: string) =>
    z
      .nullish(z.array(object, { error: `'${name}' must be an array of objects` }).check(...bounds))
      .check(described(description));
  return z.object(
    {
      attributes: createArraySchema(
        'attributes',
        attributes,
        'Standard attributes by their names; every other member is a custom attribute.',
      ),
      events: createArraySchema('events', event, 'Custom events.'),
      purchases: createArraySchema('purchases', purchase, 'Purchases.'),
    },
    { error: ERROR_MESSAGES.noValidData },
  );
};

/** Body of `/users/track` and `/users/track/bulk` for a server, which counts the objects and validates each separately. */
export const usersTrackBody = createBodySchema(z.unknown(), z.unknown(), z.unknown());

/** Creates the schema of requests whose objects are all valid, except for attribute values, which are not checked. */
const createRequestSchema = (max: number) =>
  createBodySchema(attributesObject, eventObject, purchaseObject, z.maxLength(max)).check(
    z.refine((body) => {
      const count = INPUT_ARRAYS.reduce((sum, name) => sum + (body[name]?.length ?? 0), 0);
      return count > 0 && count <= max;
    }),
  );

/** Body of `POST /users/track`. */
export const usersTrackRequest = createRequestSchema(MAX_TRACK_OBJECTS);
/** Body of `POST /users/track/bulk`. */
export const usersTrackBulkRequest = createRequestSchema(MAX_BULK_OBJECTS);

const processed = (description: string) => z.optional(z.number()).check(described(description));

/** Response 201 of both endpoints. A count is present only if its array was sent. */
export const usersTrackResponse = z.object({
  message: z.string().check(described('`success`, or what is wrong.')),
  attributes_processed: processed('Accepted attribute objects.'),
  events_processed: processed('Accepted events.'),
  purchases_processed: processed('Accepted purchases.'),
  errors: z
    .optional(z.array(z.unknown()))
    .check(described('Errors of rejected objects, by array and index; absent if none.')),
});
export type UsersTrackResponse = z.infer<typeof usersTrackResponse>;

const count = z.catch(z.optional(z.number()), undefined);

/**
 * Properties that a backend reads from any 2xx response. `message` alone indicates success. Other servers may send `null` for
 * missing values.
 */
export const usersTrackSuccess = z.object({
  message: z.string(),
  attributes_processed: count,
  events_processed: count,
  purchases_processed: count,
  errors: z.optional(z.unknown()),
});
