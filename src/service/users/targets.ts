import * as z from 'zod';
import {
  fitsBytes,
  IDENTIFIERS,
  type IdentifierName,
  isStorableText,
  MAX_ALIAS_BYTES,
  MAX_EXTERNAL_ID_BYTES,
  TRACK_ERROR,
  type UserAlias,
} from '../../protocol/index.ts';
import { isAliasText } from '../../protocol/schemas/index.ts';
import type { Lookup } from '../profiles/lookup.ts';
import type { Profile } from '../profiles/profile.ts';
import type { UserRepository } from '../profiles/user-repository.ts';
import { findEarliest, findLatest } from './find-user.ts';

export const PRIORITIES = [
  'identified',
  'unidentified',
  'most_recently_updated',
  'least_recently_updated',
] as const;
type Priority = (typeof PRIORITIES)[number];

const oneOrNone = (profile: Profile | null): Profile[] => (profile ? [profile] : []);

/** Returns the only profile left after the rules; `null` if no profile or more than one is left. */
const prioritize = (profiles: Profile[], rules: readonly Priority[]): Profile | null => {
  let left = profiles;
  for (const rule of rules) {
    switch (rule) {
      case 'identified':
        left = left.filter((profile) => profile.externalId !== null);
        break;
      case 'unidentified':
        left = left.filter((profile) => profile.externalId === null);
        break;
      case 'most_recently_updated':
        left = oneOrNone(findLatest(left));
        break;
      case 'least_recently_updated':
        left = oneOrNone(findEarliest(left));
    }
  }
  return left.length === 1 ? left[0]! : null;
};

/** Identifier of a user. */
export interface Target {
  lookup: Lookup;
  /** Tie-breakers for users with the same address. Without rules, several matching users count as no match. */
  rules: readonly Priority[];
}

/** Parsed entry of a body. Exactly one identifier is present. */
type Entry = Partial<Record<Exclude<IdentifierName, 'user_alias'>, string | null | undefined>> & {
  user_alias?: UserAlias | null | undefined;
  prioritization?: readonly Priority[] | null | undefined;
};

export const toTarget = (entry: Entry): Target => {
  const by = IDENTIFIERS.find((name) => entry[name] != null)!;
  return {
    lookup: by === 'user_alias' ? { by, value: entry[by]! } : { by, value: entry[by]! },
    // Other identifiers are unique.
    rules: (by === 'email' || by === 'phone' ? entry.prioritization : null) ?? [],
  };
};

/** Returns the user of a target; `null` if no user or more than one matches. */
export const findTarget = (users: UserRepository, { lookup, rules }: Target): Profile | null =>
  prioritize(users.find(lookup), rules);

// Members that the profile endpoints share. Each endpoint has its schema next to its rule. The schema validates the body,
// provides the type, and appears in `/openapi.json`.

const aliasText = z.string().min(1).refine(isAliasText).meta({ maxLength: MAX_ALIAS_BYTES });
export const aliasMembers = {
  alias_name: aliasText.describe(`Alias, at most ${MAX_ALIAS_BYTES} bytes.`),
  alias_label: aliasText.describe(`Type of the alias, at most ${MAX_ALIAS_BYTES} bytes.`),
};
export const alias = z.object(aliasMembers).describe('Alias of the user, in place of `external_id`.');

/** ID for a lookup. Converts numbers, which some clients send, to decimal digits. */
export const anyId = z
  .union([z.string().min(1), z.int()])
  .transform(String)
  .refine(isStorableText);

/** Email, phone number or device ID for a lookup. */
export const anyText = z.string().min(1).refine(isStorableText);

/** New external ID. */
export const newExternalId = z
  .union([z.string().min(1).meta({ maxLength: MAX_EXTERNAL_ID_BYTES }), z.int()])
  .transform(String)
  .refine((id) => fitsBytes(id, MAX_EXTERNAL_ID_BYTES), {
    params: { message: TRACK_ERROR.externalIdTooLarge },
    abort: true,
  })
  .refine(isStorableText)
  .describe(`ID of the user in your system, at most ${MAX_EXTERNAL_ID_BYTES} bytes.`);

/** Ordered tie-breakers. */
export const createPrioritizationSchema = <const Rules extends readonly (typeof PRIORITIES)[number][]>(
  rules: Rules,
) =>
  z
    .array(z.enum(rules))
    .refine(
      (chosen: readonly string[]) => !(chosen.includes('identified') && chosen.includes('unidentified')),
    )
    .describe(
      'Applied in order, `identified` and `unidentified` not both; if several users are left, nothing happens.',
    );
export const prioritization = createPrioritizationSchema(PRIORITIES);
