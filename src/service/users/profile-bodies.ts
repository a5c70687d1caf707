import * as z from 'zod';
import {
  ERROR_MESSAGES,
  fitsBytes,
  IDENTIFIERS,
  type IdentifierName,
  isRecord,
  isStorableText,
  MAX_ALIAS_BYTES,
  MAX_BODY_BYTES,
  MAX_EXTERNAL_ID_BYTES,
  MAX_PROFILE_ENTRIES,
  MAX_PROFILE_VALUES,
  notValid,
  required,
  TRACK_ERROR,
  type UserAlias,
} from '../../protocol/index.ts';
import { isAliasText } from '../../protocol/schemas/index.ts';
import { serverBody } from '../api/route.ts';
import type { RequestBody } from '../http/body.ts';
import { HttpError } from '../http/http-request.ts';
import type { Lookup } from '../profiles/lookup.ts';
import type { Profile } from '../profiles/profile.ts';
import type { UserSet } from '../profiles/user-set.ts';
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
export const findTarget = (users: UserSet, { lookup, rules }: Target): Profile | null =>
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

/** What a 400 means at each of these endpoints. */
export const BAD_ENTRIES = `An entry has the wrong shape, or there are more than ${MAX_PROFILE_ENTRIES}.`;

export const entries = <Entry extends z.ZodType>(entry: Entry) => z.array(entry).max(MAX_PROFILE_ENTRIES);

/** The first thing that is wrong with a body. */
export interface Fault {
  /** `[]` is the body itself, `['merge_updates', 0]` an entry. */
  path: readonly PropertyKey[];
  /** There are more than 50 entries, which were not looked at. */
  isTooMany: boolean;
  /** What the body has there. */
  value: unknown;
  /** What a rule of the schema has to say of its own. */
  words: string | undefined;
}

const valueAt = (body: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((value, step) => Object(value)[step], body);

const isLong = (value: unknown): boolean => Array.isArray(value) && value.length > MAX_PROFILE_ENTRIES;

/** A body that is read by its schema. What is wrong with it is answered as `refuse` says of its first fault. */
export const profileBody = <Schema extends z.ZodObject>(
  schema: Schema,
  refuse: (fault: Fault) => HttpError,
): RequestBody<z.output<Schema>> =>
  serverBody(
    {
      schema,
      read(sent) {
        if (!isRecord(sent)) throw new HttpError(400, ERROR_MESSAGES.notAnObject);
        const tooMany = Object.keys(sent).find((name) => name in schema.shape && isLong(sent[name]));
        if (tooMany !== undefined) {
          throw refuse({ path: [tooMany], isTooMany: true, value: sent[tooMany], words: undefined });
        }
        const parsed = schema.safeParse(sent);
        if (parsed.success) return parsed.data;
        const issue = parsed.error.issues[0]!;
        const words: unknown = issue.code === 'custom' ? issue.params?.['words'] : undefined;
        throw refuse({
          path: issue.path,
          isTooMany: false,
          value: valueAt(sent, issue.path),
          words: typeof words === 'string' ? words : undefined,
        });
      },
    },
    { maxBytes: MAX_BODY_BYTES, maxValues: MAX_PROFILE_VALUES },
  );

/** A refusal that names the array and the entry at fault. */
export const refuseEntry = (words: string, array: string, index: number): HttpError =>
  new HttpError(400, words, { members: { errors: [{ type: words, input_array: array, index }] } });

/** The refusal of a body whose entries are objects in arrays. */
export const refuseInArrays = ({ path, isTooMany, value, words }: Fault): HttpError => {
  const [array, index, member] = path;
  const isMissing = value == null;
  if (isTooMany) return new HttpError(400, ERROR_MESSAGES.tooManyObjects);
  if (array === undefined) return new HttpError(400, words ?? ERROR_MESSAGES.notAnObject);
  if (isMissing && index === undefined) return new HttpError(400, required(String(array)));
  if (member === undefined) return new HttpError(400, `'${String(array)}' must be an array of objects`);
  const text = words ?? (isMissing ? required(String(member)) : notValid(String(member)));
  return refuseEntry(text, String(array), Number(index));
};
