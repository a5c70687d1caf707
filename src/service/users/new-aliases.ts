import {
  checkExternalId,
  isAliasText,
  isPresent,
  isRecord,
  notValid,
  required,
  type UserAlias,
} from '../../protocol/index.ts';
import { HttpError } from '../http-error.ts';
import { setUpdated } from '../profiles/profile.ts';
import type { Lookup, UserSet } from '../profiles/user-set.ts';
import type { Store } from '../store/store.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { entriesOf, refuseEntry } from './entries.ts';

const ARRAY = 'user_aliases';

interface NewAlias {
  externalId: string | null;
  alias: UserAlias;
}

const check = (entry: Record<string, unknown>, index: number, workspace: Workspace): NewAlias => {
  // A recorded client wraps the two names in a `user_alias`; the real service takes both forms.
  const names = isRecord(entry['user_alias']) ? entry['user_alias'] : entry;
  for (const member of ['alias_name', 'alias_label']) {
    const value = names[member];
    if (value === undefined || value === null) throw refuseEntry(required(member), ARRAY, index);
    if (!isAliasText(value)) throw refuseEntry(notValid(member), ARRAY, index);
  }
  const alias = {
    alias_name: names['alias_name'] as string,
    alias_label: names['alias_label'] as string,
  };
  const sent = entry['external_id'];
  if (!isPresent(sent)) return { externalId: null, alias };
  const externalId = checkExternalId(sent, workspace.blockedExternalIds);
  if ('problem' in externalId) throw refuseEntry(externalId.problem, ARRAY, index);
  return { externalId: externalId.value, alias };
};

/** A user has one name for each label, and a label and name belong to one user: else nothing happens. */
const add = (users: UserSet, { externalId, alias }: NewAlias, nowMs: number) => {
  if (users.find({ by: 'user_alias', value: alias }).length > 0) return;
  if (externalId === null) {
    users.create({ aliases: [alias] }, nowMs);
    return;
  }
  const [profile] = users.find({ by: 'external_id', value: externalId });
  if (!profile || profile.aliases.some(({ alias_label }) => alias_label === alias.alias_label)) return;
  profile.aliases = [...profile.aliases, alias];
  setUpdated(profile, nowMs);
  users.changed(profile);
};

/** `/users/alias/new`: answers how many entries were taken. */
export const addAliases = async (input: {
  workspace: Workspace;
  store: Store;
  body: unknown;
  nowMs: number;
}): Promise<number> => {
  const { workspace, store, body, nowMs } = input;
  const aliases = entriesOf(body, ARRAY)?.map((entry, index) => check(entry, index, workspace));
  if (!aliases || aliases.length === 0) throw new HttpError(400, required(ARRAY));
  await store.write({
    workspaceId: workspace.workspaceId,
    lookups: aliases.flatMap(({ externalId, alias }): Lookup[] => [
      { by: 'user_alias', value: alias },
      ...(externalId === null ? [] : [{ by: 'external_id' as const, value: externalId }]),
    ]),
    nowMs,
    apply(users) {
      for (const alias of aliases) add(users, alias, nowMs);
    },
  });
  return aliases.length;
};
