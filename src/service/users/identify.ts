import { checkAlias, checkExternalId, isEmail, isPhone, notValid, required } from '../../protocol/index.ts';
import { HttpError } from '../http-error.ts';
import { type Profile, setUpdated } from '../profiles/profile.ts';
import type { Lookup, UserSet } from '../profiles/user-set.ts';
import type { Store } from '../store/store.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { entriesOf, refuseEntry } from './entries.ts';
import { checkPrioritization, type Priority, prioritize } from './find-user.ts';
import { mergeProfile } from './merge.ts';

const ARRAYS = ['aliases_to_identify', 'emails_to_identify', 'phone_numbers_to_identify'] as const;
type ArrayName = (typeof ARRAYS)[number];

interface Identification {
  externalId: string;
  lookup: Lookup;
  rules: Priority[];
}

const lookupOf = (entry: Record<string, unknown>, array: ArrayName, index: number): Lookup => {
  const [member, value] =
    array === 'aliases_to_identify'
      ? ['user_alias', checkAlias(entry['user_alias'])]
      : array === 'emails_to_identify'
        ? ['email', isEmail(entry['email']) ? entry['email'] : null]
        : ['phone', isPhone(entry['phone']) ? entry['phone'] : null];
  if (value === null) {
    const isMissing = entry[member] === undefined || entry[member] === null;
    throw refuseEntry(isMissing ? required(member) : notValid(member), array, index);
  }
  return { by: member, value } as Lookup;
};

const check = (
  entry: Record<string, unknown>,
  array: ArrayName,
  index: number,
  workspace: Workspace,
): Identification => {
  const sent = entry['external_id'];
  if (sent === undefined || sent === null) throw refuseEntry(required('external_id'), array, index);
  const externalId = checkExternalId(sent, workspace.blockedExternalIds);
  if ('problem' in externalId) throw refuseEntry(externalId.problem, array, index);
  const lookup = lookupOf(entry, array, index);
  if (lookup.by === 'user_alias') return { externalId: externalId.value, lookup, rules: [] };
  const rules = checkPrioritization(entry['prioritization']);
  if (!rules) {
    const isMissing = entry['prioritization'] === undefined || entry['prioritization'] === null;
    throw refuseEntry(isMissing ? required('prioritization') : notValid('prioritization'), array, index);
  }
  return { externalId: externalId.value, lookup, rules };
};

const sharesLabel = (a: Profile, b: Profile): boolean =>
  a.aliases.some(({ alias_label }) => b.aliases.some((alias) => alias.alias_label === alias_label));

/**
 * Gives a profile an external ID. Where that ID has a profile, the two become one: the one that has it is filled up with
 * what it lacks, and what both had done is added up, like their rows of `events`. Nothing happens where both have an alias of
 * the same label.
 */
export const giveExternalId = (users: UserSet, found: Profile, externalId: string, nowMs: number): void => {
  const [known] = users.find({ by: 'external_id', value: externalId });
  if (!known) {
    found.externalId = externalId;
    setUpdated(found, nowMs);
    users.changed(found);
    return;
  }
  if (sharesLabel(known, found)) return;
  mergeProfile(known, found);
  setUpdated(known, nowMs);
  users.merge(known, found);
};

/** Identifies a profile without an external ID. No match and several matches are no errors: nothing happens. */
const identify = (users: UserSet, { externalId, lookup, rules }: Identification, nowMs: number) => {
  const found = prioritize(users.find(lookup), rules);
  if (found?.externalId === null) giveExternalId(users, found, externalId, nowMs);
};

/** `/users/identify`: answers how many entries of each array were taken. */
export const identifyUsers = async (input: {
  workspace: Workspace;
  store: Store;
  body: unknown;
  nowMs: number;
}): Promise<Record<string, unknown>> => {
  const { workspace, store, body, nowMs } = input;
  const answer: Record<string, unknown> = {};
  const identifications: Identification[] = [];
  for (const array of ARRAYS) {
    const entries = entriesOf(body, array);
    if (!entries) continue;
    identifications.push(...entries.map((entry, index) => check(entry, array, index, workspace)));
    answer[array.replace('_to_identify', '_processed')] = entries.length;
  }
  if (identifications.length === 0) {
    throw new HttpError(400, `${ARRAYS.map((name) => `'${name}'`).join(' or ')} is required`);
  }
  await store.write({
    workspaceId: workspace.workspaceId,
    lookups: identifications.flatMap(({ externalId, lookup }) => [
      lookup,
      { by: 'external_id', value: externalId },
    ]),
    nowMs,
    apply(users) {
      for (const identification of identifications) identify(users, identification, nowMs);
    },
  });
  return { ...answer, message: 'success' };
};
