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
import { earliestOf, latestOf } from './find-user.ts';

export const PRIORITIES = [
  'identified',
  'unidentified',
  'most_recently_updated',
  'least_recently_updated',
] as const;
type Priority = (typeof PRIORITIES)[number];

const oneOrNone = (profile: Profile | null): Profile[] => (profile ? [profile] : []);

/** The one profile that is left after the rules; `null` where there is none, or more than one. */
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
        left = oneOrNone(latestOf(left));
        break;
      case 'least_recently_updated':
        left = oneOrNone(earliestOf(left));
    }
  }
  return left.length === 1 ? left[0]! : null;
};

/** One way to find a user. */
export interface Target {
  lookup: Lookup;
  /** Which of several users with one address is meant; without a rule none of several is. */
  rules: readonly Priority[];
}

/** An entry of a body, which its schema has read: it has exactly one of the identifiers. */
type Entry = Partial<Record<IdentifierName, string | UserAlias | null | undefined>> & {
  prioritization?: readonly Priority[] | null | undefined;
};

export const targetOf = (entry: Entry): Target => {
  const by = IDENTIFIERS.find((name) => entry[name] != null)!;
  const lookup = { by, value: entry[by] } as Lookup;
  // Of the others one user alone has each.
  return { lookup, rules: (by === 'email' || by === 'phone' ? entry.prioritization : null) ?? [] };
};

/** `null` where there is no such user, or more than one. */
export const findTarget = (users: UserRepository, { lookup, rules }: Target): Profile | null =>
  prioritize(users.find(lookup), rules);

// The members that the profile endpoints share. Each endpoint has its schema beside its rule: it checks the body, gives
// the type, and is what `/openapi.json` shows.

const aliasText = z.string().min(1).refine(isAliasText).meta({ maxLength: MAX_ALIAS_BYTES });
export const aliasMembers = {
  alias_name: aliasText.describe(`The name, at most ${MAX_ALIAS_BYTES} bytes.`),
  alias_label: aliasText.describe(`What kind of name it is, at most ${MAX_ALIAS_BYTES} bytes.`),
};
export const alias = z.object(aliasMembers).describe('Another name of the user, in place of `external_id`.');

/** An ID that looks a user up. Recorded clients send numbers, which are taken by their decimal digits. */
export const anyId = z
  .union([z.string().min(1), z.int()])
  .transform(String)
  .refine(isStorableText);

/** An address, a number or a device ID that looks a user up. */
export const anyText = z.string().min(1).refine(isStorableText);

/** An ID that a user is to have. */
export const newExternalId = z
  .union([z.string().min(1).meta({ maxLength: MAX_EXTERNAL_ID_BYTES }), z.int()])
  .transform(String)
  .refine((id) => fitsBytes(id, MAX_EXTERNAL_ID_BYTES), {
    params: { words: TRACK_ERROR.externalIdTooLarge },
    abort: true,
  })
  .refine(isStorableText)
  .describe(`ID of the user in your system, at most ${MAX_EXTERNAL_ID_BYTES} bytes.`);

/** Which of several users is meant: rules in their order. */
export const prioritizationOf = <const Rules extends readonly (typeof PRIORITIES)[number][]>(rules: Rules) =>
  z
    .array(z.enum(rules))
    .refine(
      (chosen: readonly string[]) => !(chosen.includes('identified') && chosen.includes('unidentified')),
    )
    .describe(
      'Applied in order, `identified` and `unidentified` not both; if several users are left, nothing happens.',
    );
export const prioritization = prioritizationOf(PRIORITIES);
