import { checkAlias, idText, isRecord, MAX_PROFILE_ENTRIES } from '../../protocol/index.ts';
import { HttpError } from '../http-error.ts';
import type { Lookup } from '../profiles/user-set.ts';
import type { Store, UserWork } from '../store/store.ts';
import { checkPrioritization, type Priority, prioritize } from './find-user.ts';

/** Users to erase. */
export interface Target {
  lookup: Lookup;
  /** Which of several users is meant; without a rule none of several is. */
  rules: Priority[];
}

const named =
  (by: 'external_id' | 'braze_id') =>
  (value: unknown): Target | null => {
    const id = idText(value);
    return id === undefined || id === '' ? null : { lookup: { by, value: id }, rules: [] };
  };

const addressed =
  (by: 'email' | 'phone') =>
  (value: unknown): Target | null => {
    const entry = typeof value === 'string' ? { [by]: value } : value;
    if (!isRecord(entry)) return null;
    const { [by]: address, prioritization } = entry;
    const rules = checkPrioritization(prioritization ?? []);
    if (typeof address !== 'string' || address === '' || !rules) return null;
    return rules.includes('least_recently_updated') ? null : { lookup: { by, value: address }, rules };
  };

const aliased = (value: unknown): Target | null => {
  const alias = checkAlias(value);
  return alias ? { lookup: { by: 'user_alias', value: alias }, rules: [] } : null;
};

/** Reads one entry of each member of a request. */
export const KINDS = {
  external_ids: named('external_id'),
  user_aliases: aliased,
  braze_ids: named('braze_id'),
  email_addresses: addressed('email'),
  phone_numbers: addressed('phone'),
} satisfies Record<string, (value: unknown) => Target | null>;

const NAMES = Object.keys(KINDS) as (keyof typeof KINDS)[];

const targetsOf = (body: unknown): Target[] => {
  if (!isRecord(body)) throw new HttpError(400, 'The body must be an object');
  const names = NAMES.filter((name) => body[name] !== undefined && body[name] !== null);
  const [name] = names;
  if (name === undefined || names.length > 1) {
    throw new HttpError(400, `Exactly one of '${NAMES.join("', '")}' is required`);
  }
  const values = body[name];
  if (!Array.isArray(values)) throw new HttpError(400, `'${name}' must be an array`);
  if (values.length > MAX_PROFILE_ENTRIES) {
    throw new HttpError(400, `'${name}' may not have more than ${MAX_PROFILE_ENTRIES} entries`);
  }
  return values.map((value, index) => {
    const target = KINDS[name](value);
    if (!target) throw new HttpError(400, `'${name}[${index}]' is not valid`);
    return target;
  });
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
    const remove = ({ lookup, rules }: Target): boolean => {
      if (lookup.by === 'external_id') return users.forget(lookup.value);
      const profile = prioritize(users.find(lookup), rules);
      if (profile) users.remove(profile);
      return profile !== null;
    };
    return targets.filter(remove).length;
  },
});

/** `/users/delete`: returns how many users were erased. */
export const deleteUsers = async (input: {
  workspaceId: string;
  store: Pick<Store, 'write'>;
  body: unknown;
  nowMs: number;
}): Promise<number> => {
  const { workspaceId, store, body, nowMs } = input;
  return store.write(deleteWork(workspaceId, targetsOf(body), nowMs));
};
