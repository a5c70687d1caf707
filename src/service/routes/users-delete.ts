import * as z from 'zod';
import { MAX_PROFILE_ENTRIES } from '../../protocol/index.ts';
import { defineRoute } from '../api/route.ts';
import { HttpError } from '../http/http-request.ts';
import { deleteMutation, TARGETS } from '../users/delete.ts';
import { type BodyError, entries, profileBody } from './profile-bodies.ts';

const NAMES = ['external_ids', 'user_aliases', 'braze_ids', 'email_addresses', 'phone_numbers'] as const;

const deleteRequest = z
  .object({
    external_ids: entries(TARGETS.external_id).nullish().describe('IDs of users.'),
    user_aliases: entries(TARGETS.user_alias).nullish().describe('Aliases of users.'),
    braze_ids: entries(TARGETS.braze_id).nullish().describe('IDs that the service gave users.'),
    email_addresses: entries(TARGETS.email)
      .nullish()
      .describe('E-mail addresses, each with `prioritization` where several users may share it.'),
    phone_numbers: entries(TARGETS.phone)
      .nullish()
      .describe('Phone numbers, each with `prioritization` where several users may share it.'),
  })
  .refine((body) => NAMES.filter((name) => body[name] != null).length === 1);
const deleteResponse = z.object({
  deleted: z.int().describe('Users that were found and erased.'),
  message: z.string().describe('`success`'),
});

const toHttpError = ({ path: [name, index], isTooMany }: BodyError): HttpError => {
  if (name === undefined) return new HttpError(400, `Exactly one of '${NAMES.join("', '")}' is required`);
  const list = String(name);
  if (isTooMany) return new HttpError(400, `'${list}' may not have more than ${MAX_PROFILE_ENTRIES} entries`);
  return new HttpError(
    400,
    index === undefined ? `'${list}' must be an array` : `'${list}[${String(index)}]' is not valid`,
  );
};

/** `/users/delete`: returns the number of users erased. */
export const usersDelete = defineRoute({
  path: '/users/delete',
  permission: 'users.delete',
  limit: 'users_other',
  body: profileBody(deleteRequest, toHttpError),
  response: { status: 201, schema: deleteResponse },
  writes: true,
  operation: {
    id: 'deleteUsers',
    tag: 'Users',
    summary: 'Erase users and all their data',
    description:
      'Accepts exactly one of the five lists. Cannot be undone. An address that several users share needs `prioritization`, without `least_recently_updated`.',
    example: { external_ids: ['u-771'] },
    badRequest: 'No list was sent, several were, or an entry is not valid. Nothing was deleted.',
  },
  async handler({ workspace: { workspaceId }, store, body, now }) {
    const targets = NAMES.flatMap((name) => body[name] ?? []);
    const deleted = await store.write(deleteMutation(workspaceId, targets, now));
    return { body: { deleted, message: 'success' } };
  },
});
