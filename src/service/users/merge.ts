import * as z from 'zod';
import {
  isPhone,
  isPresent,
  isRecord,
  MAX_BODY_BYTES,
  MAX_PROFILE_VALUES,
  required,
} from '../../protocol/index.ts';
import { HttpError } from '../http/exchange.ts';
import { setUpdated } from '../profiles/profile.ts';
import type { Lookup, UserSet } from '../profiles/user-set.ts';
import type { Route } from '../route.ts';
import { mergeProfile } from './merge-profiles.ts';
import {
  alias,
  anyId,
  BAD_ENTRIES,
  entries,
  type Fault,
  type Priority,
  prioritization,
  prioritize,
  readBody,
} from './profile-bodies.ts';

const TOO_MANY = 'a single request may not contain more than 50 merge updates';
const BAD_IDENTIFIER =
  "identifiers must be objects with an 'external_id' property that is a string, 'user_alias' property that is an object, 'email' property that is a string, or 'phone' property that is a string";
const BAD_UPDATE = "'merge_updates' must only have 'identifier_to_merge' and 'identifier_to_keep'";
const BAD_PRIORITIZATION = "'prioritization' must be an array of known values";

const NAMES = ['external_id', 'user_alias', 'email', 'phone'] as const;

/** One way to find a user: exactly one of the four members. */
const identifier = z
  .object({
    external_id: anyId.nullish().describe('ID of the user in your system.'),
    user_alias: alias.nullish().describe('Another name of the user.'),
    email: z.string().min(1).nullish().describe('E-mail address, with `prioritization`.'),
    phone: z.string().min(1).nullish().describe('Phone number, with `prioritization`.'),
    prioritization: prioritization.nullish().describe('Which of several users with one address is meant.'),
  })
  .refine((id) => NAMES.filter((name) => id[name] != null).length === 1)
  .refine((id) => !(isPresent(id.email) || isPresent(id.phone)) || id.prioritization != null, {
    path: ['prioritization'],
  });
export const mergeRequest = z.object({
  merge_updates: entries(
    z.strictObject({
      identifier_to_merge: identifier.describe('The user who is removed: one way to find them.'),
      identifier_to_keep: identifier.describe('The user who stays: one way to find them.'),
    }),
  ).describe('Pairs of users.'),
});
const mergeAnswer = z.object({ message: z.string().describe('`success`') });

const refuse = ({ path, isTooMany, value }: Fault): HttpError => {
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

interface Identifier {
  lookup: Lookup;
  rules: readonly Priority[];
}

const identifierOf = (sent: z.output<typeof identifier>): Identifier => {
  const { external_id, user_alias, email, phone, prioritization: rules } = sent;
  if (external_id != null) return { lookup: { by: 'external_id', value: external_id }, rules: [] };
  if (user_alias) return { lookup: { by: 'user_alias', value: user_alias }, rules: [] };
  return {
    lookup: email == null ? { by: 'phone', value: phone! } : { by: 'email', value: email },
    rules: rules ?? [],
  };
};

const merge = (users: UserSet, update: { merge: Identifier; keep: Identifier }, nowMs: number) => {
  const merged = prioritize(users.find(update.merge.lookup), update.merge.rules);
  const kept = prioritize(users.find(update.keep.lookup), update.keep.rules);
  if (!merged || !kept || merged === kept) return;
  const haveBadPhones = [merged, kept].every(({ phone }) => phone !== null && !isPhone(phone));
  if (haveBadPhones) return;
  mergeProfile(kept, merged);
  setUpdated(kept, nowMs);
  users.merge(kept, merged);
};

/** `/users/merge`: one profile takes in another, which is gone then. Profiles that do not match stay as they are. */
export const usersMerge: Route = {
  method: 'POST',
  path: '/users/merge',
  permission: 'users.merge',
  errors: 'general',
  rate: 'general',
  limit: 'users_other',
  maxBodyBytes: MAX_BODY_BYTES,
  maxValues: MAX_PROFILE_VALUES,
  tooLarge: 413,
  operation: {
    id: 'mergeUsers',
    tag: 'Users',
    summary: 'Merge one user into another',
    description: 'What the kept user lacks is taken over, counts are added up, the merged user is removed.',
    request: mergeRequest,
    example: {
      merge_updates: [
        { identifier_to_merge: { external_id: 'u-770' }, identifier_to_keep: { external_id: 'u-771' } },
      ],
    },
    success: 202,
    answer: mergeAnswer,
    writes: true,
    badRequest: BAD_ENTRIES,
  },
  async answer({ workspace, store, body, now }) {
    const updates = readBody(mergeRequest, body, refuse).merge_updates.map((update) => ({
      merge: identifierOf(update.identifier_to_merge),
      keep: identifierOf(update.identifier_to_keep),
    }));
    await store.write({
      workspaceId: workspace.workspaceId,
      lookups: updates.flatMap(({ merge: a, keep }) => [a.lookup, keep.lookup]),
      nowMs: now,
      apply(users) {
        for (const update of updates) merge(users, update, now);
      },
    });
    return { status: 202, body: { message: 'success' } };
  },
};
