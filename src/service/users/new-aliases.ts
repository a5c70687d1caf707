import type { UserRepository } from '../profiles/user-repository.ts';

export interface NewAlias {
  externalId: string | null;
  alias: { alias_name: string; alias_label: string };
}

/** Adds an alias. Has no effect if the user has another alias with the same label, or if another user has the alias. */
export const addAlias = (users: UserRepository, { externalId, alias }: NewAlias, nowMs: number) => {
  if (users.find({ by: 'user_alias', value: alias }).length > 0) return;
  if (externalId === null) {
    users.create({ aliases: [alias] }, nowMs);
    return;
  }
  const [profile] = users.find({ by: 'external_id', value: externalId });
  if (!profile || profile.aliases.some(({ alias_label }) => alias_label === alias.alias_label)) return;
  profile.aliases = [...profile.aliases, alias];
  users.changed(profile, nowMs);
};
