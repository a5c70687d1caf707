import * as z from 'zod/mini';
import { notValid, TRACK_ERROR } from '../error-codes.ts';
import { isPresent, isRecord } from '../record.ts';
import { checkIdentity, type Faults, type Identity, identifiers, isSound } from './identity.ts';
import { described } from './text.ts';

/**
 * Tokens of one anonymous import. Each makes a profile, so it is as many as a request may have objects, whose profiles
 * are made at one go too. The contract has no bound and no error for it; the one of an import fits, as it refuses the
 * object: without its tokens it would do nothing and yet count as processed.
 */
const MAX_IMPORTED_TOKENS = 75;

/** Whom an object of `attributes` is about, and how its values are taken. */
export interface AttributesUser {
  /** `null` for a token import that names no user: an anonymous profile for each token. */
  identity: Identity | null;
  /** Tokens that some user has already are left alone. */
  isTokenImport: boolean;
  mergeObjects: boolean;
}

const FLAGS = ['_merge_objects', 'push_token_import'];

/** Reads the user and the flags of one object of `attributes`; `null` where the object is rejected, with the reason in `faults`. */
export const readAttributesUser = (
  object: unknown,
  blocked: ReadonlySet<string>,
  faults: Faults,
): AttributesUser | null => {
  if (!isRecord(object)) {
    faults.add(TRACK_ERROR.identifierRequired);
    return null;
  }
  const { push_token_import, push_tokens, external_id, braze_id, user_alias, email, phone } = object;
  const isTokenImport = push_token_import === true;
  const isAnonymous = isTokenImport && ![user_alias, email, phone].some(isPresent);
  if (isTokenImport) {
    const tokens = Array.isArray(push_tokens) ? push_tokens.length : Number(push_tokens != null);
    const isTooMany = isAnonymous && tokens > MAX_IMPORTED_TOKENS;
    if (tokens === 0 || isTooMany || isPresent(external_id) || isPresent(braze_id)) {
      faults.add(TRACK_ERROR.badPushTokenImport);
      return null;
    }
  }
  const identity = isAnonymous ? null : checkIdentity(object, blocked, faults);
  if (!identity && !isAnonymous) return null;
  for (const flag of FLAGS) {
    const value = object[flag];
    if (value !== undefined && value !== null && typeof value !== 'boolean') faults.add(notValid(flag));
  }
  return { identity, isTokenImport, mergeObjects: object['_merge_objects'] === true };
};

/** Standard and custom attributes of one user, which are read by hand like events. The values are left to the service. */
export const attributesObject = z
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
  .check(isSound(readAttributesUser));
