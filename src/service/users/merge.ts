import * as z from 'zod';
import { isPhone, isPresent, isRecord, MAX_PROFILE_ENTRIES, required } from '../../protocol/index.ts';
import { defineRoute } from '../api/route.ts';
import { HttpError } from '../http/http-request.ts';
import { getOwn, type Profile, setOwn, sumOf, type Tally } from '../profiles/profile.ts';
import type { UserSet } from '../profiles/user-set.ts';
import { MAX_KNOWN_CLICKS } from './click-effects.ts';
import { parseDate } from './dates.ts';
import {
  alias,
  anyId,
  anyText,
  BAD_ENTRIES,
  entries,
  type Fault,
  findTarget,
  prioritization,
  profileBody,
  type Target,
  targetOf,
} from './profile-bodies.ts';
import { joinTokens } from './push-tokens.ts';

const fillMissing = <T>(kept: Record<string, T>, merged: Record<string, T>) => {
  for (const [name, value] of Object.entries(merged))
    if (!Object.hasOwn(kept, name)) setOwn(kept, name, value);
};

const sumTallies = <T extends Tally & { revenue?: number }>(
  kept: Record<string, T>,
  merged: Record<string, T>,
) => {
  for (const [name, tally] of Object.entries(merged)) {
    const before = getOwn(kept, name);
    if (!before) {
      setOwn(kept, name, tally);
      continue;
    }
    before.count += tally.count;
    before.first = Math.min(before.first, tally.first);
    before.last = Math.max(before.last, tally.last);
    if (before.revenue !== undefined) before.revenue = sumOf(before.revenue, tally.revenue ?? 0);
  }
};

/**
 * What the kept profile does not have comes from the other: attributes, contacts, aliases, subscriptions, tokens. All of it comes,
 * also where that is more than `/users/track` would add: a merge has no answer that could name what it left out.
 */
const fillProfile = (kept: Profile, merged: Profile): void => {
  kept.email ??= merged.email;
  kept.phone ??= merged.phone;
  fillMissing(kept.standard, merged.standard);
  fillMissing(kept.custom, merged.custom);
  fillMissing(kept.subscriptionGroups, merged.subscriptionGroups);
  const labels = new Set(kept.aliases.map(({ alias_label }) => alias_label));
  kept.aliases = [...kept.aliases, ...merged.aliases.filter(({ alias_label }) => !labels.has(alias_label))];
  kept.pushTokens = joinTokens(kept.pushTokens, merged.pushTokens);
  kept.createdAtMs = Math.min(kept.createdAtMs, merged.createdAtMs);
};

/** Of two dates, as they were sent, the one that `isBetter` prefers; what is no date gives way. */
const chooseDate = (
  kept: Profile,
  merged: Profile,
  name: string,
  isBetter: (a: number, b: number) => boolean,
) => {
  const [ours, theirs] = [kept, merged].map(({ standard }) => {
    const value = getOwn(standard, name);
    return typeof value === 'string' ? parseDate(value) : null;
  });
  if (theirs === null || theirs === undefined) return;
  if (ours === null || ours === undefined || isBetter(theirs, ours))
    kept.standard[name] = merged.standard[name];
};

/** `fillProfile`, and what both have done is added up. The kept profile stays identified, or becomes so. */
export const mergeProfile = (kept: Profile, merged: Profile): void => {
  kept.externalId ??= merged.externalId;
  chooseDate(kept, merged, 'date_of_first_session', (a, b) => a < b);
  chooseDate(kept, merged, 'date_of_last_session', (a, b) => a > b);
  fillProfile(kept, merged);
  sumTallies(kept.events, merged.events);
  sumTallies(kept.purchases, merged.purchases);
  kept.clicks = [...new Set([...merged.clicks, ...kept.clicks])].slice(-MAX_KNOWN_CLICKS);
};

const TOO_MANY = `a single request may not contain more than ${MAX_PROFILE_ENTRIES} merge updates`;
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
    email: anyText.nullish().describe('E-mail address, with `prioritization`.'),
    phone: anyText.nullish().describe('Phone number, with `prioritization`.'),
    prioritization: prioritization.nullish().describe('Which of several users with one address is meant.'),
  })
  .refine((id) => NAMES.filter((name) => id[name] != null).length === 1)
  .refine((id) => !(isPresent(id.email) || isPresent(id.phone)) || id.prioritization != null, {
    path: ['prioritization'],
  });
const mergeRequest = z.object({
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

const merge = (users: UserSet, update: { merge: Target; keep: Target }, nowMs: number) => {
  const [merged, kept] = [findTarget(users, update.merge), findTarget(users, update.keep)];
  if (!merged || !kept || merged === kept) return;
  const haveBadPhones = [merged, kept].every(({ phone }) => phone !== null && !isPhone(phone));
  if (haveBadPhones) return;
  mergeProfile(kept, merged);
  users.merge(kept, merged, nowMs);
};

/** `/users/merge`: one profile takes in another, which is gone then. Profiles that do not match stay as they are. */
export const usersMerge = defineRoute({
  method: 'POST',
  path: '/users/merge',
  permission: 'users.merge',
  errors: 'general',
  rate: 'general',
  limit: 'users_other',
  body: profileBody(mergeRequest, refuse),
  operation: {
    id: 'mergeUsers',
    tag: 'Users',
    summary: 'Merge one user into another',
    description: 'What the kept user lacks is taken over, counts are added up, the merged user is removed.',
    example: {
      merge_updates: [
        { identifier_to_merge: { external_id: 'u-770' }, identifier_to_keep: { external_id: 'u-771' } },
      ],
    },
    success: 202,
    response: mergeAnswer,
    writes: true,
    badRequest: BAD_ENTRIES,
  },
  async handler({ workspace, store, body, now }) {
    const updates = body.merge_updates.map((update) => ({
      merge: targetOf(update.identifier_to_merge),
      keep: targetOf(update.identifier_to_keep),
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
});
