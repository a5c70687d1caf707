import { checkAlias, idText, isPhone, isRecord, required } from '../../protocol/index.ts';
import { HttpError } from '../http-error.ts';
import { getOwn, setOwn } from '../profiles/own.ts';
import { type Profile, setUpdated, sumOf, type Tally } from '../profiles/profile.ts';
import type { Lookup, UserSet } from '../profiles/user-set.ts';
import type { Store } from '../store/store.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { parseDate } from './dates.ts';
import { entriesOf } from './entries.ts';
import { checkPrioritization, type Priority, prioritize } from './find-user.ts';
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

/** What the kept profile does not have comes from the other: attributes, contacts, aliases, subscriptions, tokens. */
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
};

const TOO_MANY = 'a single request may not contain more than 50 merge updates';
const BAD_IDENTIFIER =
  "identifiers must be objects with an 'external_id' property that is a string, 'user_alias' property that is an object, 'email' property that is a string, or 'phone' property that is a string";
const BAD_UPDATE = "'merge_updates' must only have 'identifier_to_merge' and 'identifier_to_keep'";
const BAD_PRIORITIZATION = "'prioritization' must be an array of known values";

interface Identifier {
  lookup: Lookup;
  rules: Priority[];
}

const NAMES = ['external_id', 'user_alias', 'email', 'phone'];

const identifierOf = (value: unknown): Identifier => {
  const refuse = () => new HttpError(400, BAD_IDENTIFIER);
  if (!isRecord(value)) throw refuse();
  const named = NAMES.filter((name) => value[name] !== undefined && value[name] !== null);
  if (named.length !== 1) throw refuse();
  const { external_id, user_alias, email, phone, prioritization } = value;
  const id = idText(external_id);
  if (id !== undefined) return { lookup: { by: 'external_id', value: id }, rules: [] };
  if (user_alias !== undefined && user_alias !== null) {
    const alias = checkAlias(user_alias);
    if (!alias) throw refuse();
    return { lookup: { by: 'user_alias', value: alias }, rules: [] };
  }
  const address = email ?? phone;
  if (typeof address !== 'string') throw refuse();
  if (prioritization === undefined || prioritization === null) {
    throw new HttpError(400, required('prioritization'));
  }
  const rules = checkPrioritization(prioritization);
  if (!rules) throw new HttpError(400, BAD_PRIORITIZATION);
  return { lookup: { by: typeof email === 'string' ? 'email' : 'phone', value: address }, rules };
};

const updateOf = (entry: Record<string, unknown>): { merge: Identifier; keep: Identifier } => {
  const keys = Object.keys(entry);
  if (keys.length !== 2 || !('identifier_to_merge' in entry) || !('identifier_to_keep' in entry)) {
    throw new HttpError(400, BAD_UPDATE);
  }
  return {
    merge: identifierOf(entry['identifier_to_merge']),
    keep: identifierOf(entry['identifier_to_keep']),
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
export const mergeUsers = async (input: {
  workspace: Workspace;
  store: Store;
  body: unknown;
  nowMs: number;
}): Promise<void> => {
  const { workspace, store, body, nowMs } = input;
  const entries = entriesOf(body, 'merge_updates', TOO_MANY);
  if (!entries) throw new HttpError(400, "'merge_updates' must be an array of objects");
  const updates = entries.map(updateOf);
  await store.write({
    workspaceId: workspace.workspaceId,
    lookups: updates.flatMap(({ merge: a, keep }) => [a.lookup, keep.lookup]),
    nowMs,
    apply(users) {
      for (const update of updates) merge(users, update, nowMs);
    },
  });
};
