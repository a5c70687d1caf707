import * as z from 'zod';
import type { UserMutation } from '../store/store.ts';
import {
  alias,
  anyId,
  anyText,
  createPrioritizationSchema,
  findTarget,
  PRIORITIES,
  type Target,
  toTarget,
} from './targets.ts';

/** Excludes `least_recently_updated`, as the contract does, because erasure must not depend on recent activity. */
const DELETE_PRIORITIES = PRIORITIES.filter((rule) => rule !== 'least_recently_updated');
const prioritization = createPrioritizationSchema(DELETE_PRIORITIES).nullish();

const email = anyText.describe('E-mail address of a user.');
const phone = anyText.describe('Phone number of a user.');

/** Parsers of the entries of each list of a request, by identifier. */
export const TARGETS = {
  external_id: anyId.transform((external_id) => toTarget({ external_id })),
  user_alias: alias.transform((user_alias) => toTarget({ user_alias })),
  braze_id: anyId.transform((braze_id) => toTarget({ braze_id })),
  email: z
    .union([email.transform((sent) => ({ email: sent })), z.object({ email, prioritization })])
    .transform(toTarget),
  phone: z
    .union([phone.transform((sent) => ({ phone: sent })), z.object({ phone, prioritization })])
    .transform(toTarget),
};

/** Erases users with all their data. Returns the number of users erased. */
export const deleteMutation = (
  workspaceId: string,
  targets: readonly Target[],
  nowMs: number,
): UserMutation<number> => ({
  workspaceId,
  lookups: targets.map(({ lookup }) => lookup),
  nowMs,
  apply(users) {
    const eraseTarget = (target: Target): boolean => {
      const { lookup } = target;
      // A rejected row of an integration may name a user who was never stored.
      if (users.find(lookup).length === 0) users.deleteRejects(lookup);
      if (lookup.by === 'external_id') return users.eraseByExternalId(lookup.value);
      const profile = findTarget(users, target);
      if (profile) users.erase(profile);
      return profile !== null;
    };
    return targets.filter(eraseTarget).length;
  },
});
