import { completeProfile, type Profile } from './profile.ts';

/** What the column `profile` holds. The members are those of an export; one that is empty is left out. */
export interface ProfileJson {
  email?: string;
  phone?: string;
  user_aliases?: Profile['aliases'];
  custom_attributes?: Profile['custom'];
  subscription_groups?: Profile['subscriptionGroups'];
  push_tokens?: Profile['pushTokens'];
  custom_events?: Profile['events'];
  purchases?: Profile['purchases'];
  [standardAttribute: string]: unknown;
}

/** What is `undefined` is left out of JSON. */
const unlessEmpty = <T extends object>(value: T): T | undefined => {
  // Asking a list like a record would make a text of each of its indices.
  if (Array.isArray(value)) return value.length > 0 ? value : undefined;
  for (const _ in value) return value;
  return undefined;
};

/** Ready to be written as JSON. */
export const profileJson = (profile: Profile): object => ({
  ...profile.standard,
  email: profile.email ?? undefined,
  phone: profile.phone ?? undefined,
  user_aliases: unlessEmpty(profile.aliases),
  custom_attributes: unlessEmpty(profile.custom),
  subscription_groups: unlessEmpty(profile.subscriptionGroups),
  push_tokens: unlessEmpty(profile.pushTokens),
  custom_events: unlessEmpty(profile.events),
  purchases: unlessEmpty(profile.purchases),
});

const NOT_STANDARD = new Set([
  'email',
  'phone',
  'user_aliases',
  'custom_attributes',
  'subscription_groups',
  'push_tokens',
  'custom_events',
  'purchases',
]);

/** The profile of a row: its JSON, and the columns beside it. */
export const readProfile = (
  columns: Pick<Profile, 'userId' | 'externalId' | 'createdAtMs' | 'updatedAtMs'>,
  json: ProfileJson,
): Profile => {
  const standard: Profile['standard'] = {};
  for (const name in json) if (!NOT_STANDARD.has(name)) standard[name] = json[name];
  return completeProfile({
    userId: columns.userId,
    externalId: columns.externalId,
    aliases: json.user_aliases ?? [],
    email: json.email ?? null,
    phone: json.phone ?? null,
    standard,
    custom: json.custom_attributes ?? {},
    subscriptionGroups: json.subscription_groups ?? {},
    pushTokens: json.push_tokens ?? [],
    events: json.custom_events ?? {},
    purchases: json.purchases ?? {},
    createdAtMs: columns.createdAtMs,
    updatedAtMs: columns.updatedAtMs,
  });
};
