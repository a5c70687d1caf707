import * as z from 'zod';
import { isPresent, isRecord, MAX_PROFILE_ENTRIES, required } from '../../protocol/index.ts';
import { defineRoute } from '../api/route.ts';
import { HttpError } from '../http/http-request.ts';
import { mergeUsers } from '../users/merge.ts';
import { alias, anyId, anyText, prioritization, toTarget } from '../users/targets.ts';
import { BAD_ENTRIES, type BodyError, entries, profileBody } from './profile-bodies.ts';

const TOO_MANY = `a single request may not contain more than ${MAX_PROFILE_ENTRIES} merge updates`;
const BAD_IDENTIFIER =
  "identifiers must be objects with an 'external_id' property that is a string, 'user_alias' property that is an object, 'email' property that is a string, or 'phone' property that is a string";
const BAD_UPDATE = "'merge_updates' must only have 'identifier_to_merge' and 'identifier_to_keep'";
const BAD_PRIORITIZATION = "'prioritization' must be an array of known values";

const NAMES = ['external_id', 'user_alias', 'email', 'phone'] as const;

/** Identifier of a user: exactly one of the four members. */
const identifier = z
  .object({
    external_id: anyId.nullish().describe('ID of the user in your system.'),
    user_alias: alias.nullish().describe('Alias of the user.'),
    email: anyText.nullish().describe('E-mail address, with `prioritization`.'),
    phone: anyText.nullish().describe('Phone number, with `prioritization`.'),
    prioritization: prioritization.nullish().describe('Tie-breakers for users with the same address.'),
  })
  .refine((id) => NAMES.filter((name) => id[name] != null).length === 1)
  .refine((id) => !(isPresent(id.email) || isPresent(id.phone)) || id.prioritization != null, {
    path: ['prioritization'],
  });
const mergeRequest = z.object({
  merge_updates: entries(
    z.strictObject({
      identifier_to_merge: identifier.describe('Identifier of the user to remove.'),
      identifier_to_keep: identifier.describe('Identifier of the user to keep.'),
    }),
  ).describe('Pairs of users.'),
});
const mergeResponse = z.object({ message: z.string().describe('`success`') });

const toHttpError = ({ path, isTooMany, value }: BodyError): HttpError => {
  const [, index, side, member] = path;
  if (isTooMany) return new HttpError(400, TOO_MANY);
  if (index === undefined || (side === undefined && !isRecord(value))) {
    return new HttpError(400, "'merge_updates' must be an array of objects");
  }
  if (side === undefined || (member === undefined && value === undefined))
    return new HttpError(400, BAD_UPDATE);
  if (member !== 'prioritization') return new HttpError(400, BAD_IDENTIFIER);
  return new HttpError(400, value == null ? required('prioritization') : BAD_PRIORITIZATION);
};

/** `/users/merge`: merges one profile into another and deletes it. Profiles that do not match are not changed. */
export const usersMerge = defineRoute({
  path: '/users/merge',
  permission: 'users.merge',
  limit: 'users_other',
  body: profileBody(mergeRequest, toHttpError),
  response: { status: 202, schema: mergeResponse },
  writes: true,
  operation: {
    id: 'mergeUsers',
    tag: 'Users',
    summary: 'Merge one user into another',
    description: 'Copies data that the kept user lacks, adds up counts, and removes the merged user.',
    example: {
      merge_updates: [
        { identifier_to_merge: { external_id: 'u-770' }, identifier_to_keep: { external_id: 'u-771' } },
      ],
    },
    badRequest: BAD_ENTRIES,
  },
  async handler({ workspace, store, body, now }) {
    const updates = body.merge_updates.map((update) => ({
      merge: toTarget(update.identifier_to_merge),
      keep: toTarget(update.identifier_to_keep),
    }));
    await store.write({
      workspaceId: workspace.workspaceId,
      lookups: updates.flatMap(({ merge, keep }) => [merge.lookup, keep.lookup]),
      nowMs: now,
      apply(users) {
        for (const update of updates) mergeUsers(users, update, now);
      },
    });
    return { body: { message: 'success' } };
  },
});
