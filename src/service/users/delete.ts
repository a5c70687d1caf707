import * as z from 'zod';
import { MAX_PROFILE_ENTRIES } from '../../protocol/index.ts';
import { defineRoute } from '../api/route.ts';
import { HttpError } from '../http/http-request.ts';
import type { UserWork } from '../store/store.ts';
import {
  alias,
  anyId,
  anyText,
  entries,
  type Fault,
  findTarget,
  PRIORITIES,
  prioritizationOf,
  profileBody,
  type Target,
  targetOf,
} from './profile-bodies.ts';

/** What is erased must not depend on who was there last: the contract leaves this rule out here. */
const DELETE_PRIORITIES = PRIORITIES.filter((rule) => rule !== 'least_recently_updated');
const prioritization = prioritizationOf(DELETE_PRIORITIES).nullish();

const email = anyText.describe('E-mail address of a user.');
const phone = anyText.describe('Phone number of a user.');

/** One entry of each list of a request, by the identifier that it has. */
export const TARGETS = {
  external_id: anyId.transform((external_id) => targetOf({ external_id })),
  user_alias: alias.transform((user_alias) => targetOf({ user_alias })),
  braze_id: anyId.transform((braze_id) => targetOf({ braze_id })),
  email: z
    .union([email.transform((sent) => ({ email: sent })), z.object({ email, prioritization })])
    .transform(targetOf),
  phone: z
    .union([phone.transform((sent) => ({ phone: sent })), z.object({ phone, prioritization })])
    .transform(targetOf),
};

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
const deleteAnswer = z.object({
  deleted: z.int().describe('Users who were there and are erased.'),
  message: z.string().describe('`success`'),
});

const refuse = ({ path: [name, index], isTooMany }: Fault): HttpError => {
  if (name === undefined) return new HttpError(400, `Exactly one of '${NAMES.join("', '")}' is required`);
  const list = String(name);
  if (isTooMany) return new HttpError(400, `'${list}' may not have more than ${MAX_PROFILE_ENTRIES} entries`);
  return new HttpError(
    400,
    index === undefined ? `'${list}' must be an array` : `'${list}[${String(index)}]' is not valid`,
  );
};

/** Erases users, with everything that is stored of them. Returns how many there were. */
export const deleteWork = (
  workspaceId: string,
  targets: readonly Target[],
  nowMs: number,
): UserWork<number> => ({
  workspaceId,
  lookups: targets.map(({ lookup }) => lookup),
  nowMs,
  apply(users) {
    const remove = (target: Target): boolean => {
      const { lookup } = target;
      // A row that was rejected may name a user who was never stored.
      if (users.find(lookup).length === 0) users.forgetRejects(lookup);
      if (lookup.by === 'external_id') return users.forget(lookup.value);
      const profile = findTarget(users, target);
      if (profile) users.remove(profile);
      return profile !== null;
    };
    return targets.filter(remove).length;
  },
});

/** `/users/delete`: answers how many users were erased. */
export const usersDelete = defineRoute({
  method: 'POST',
  path: '/users/delete',
  permission: 'users.delete',
  errors: 'general',
  rate: 'general',
  limit: 'users_other',
  body: profileBody(deleteRequest, refuse),
  operation: {
    id: 'deleteUsers',
    tag: 'Users',
    summary: 'Erase users with everything that is stored of them',
    description:
      'Takes exactly one of the five lists. Cannot be undone. An address that several users share needs `prioritization`, without `least_recently_updated`.',
    example: { external_ids: ['u-771'] },
    success: 201,
    response: deleteAnswer,
    writes: true,
    badRequest: 'No list was sent, several were, or an entry is not valid. Nothing was deleted.',
  },
  async handler({ workspace: { workspaceId }, store, body, now }) {
    const targets = NAMES.flatMap((name) => body[name] ?? []);
    const deleted = await store.write(deleteWork(workspaceId, targets, now));
    return { status: 201, body: { deleted, message: 'success' } };
  },
});
