import type { Profile } from './profile.ts';

const isEmpty = (value: object): boolean => {
  for (const _ in value) return false;
  return true;
};

/** A profile as one line of JSON, without the members that are empty: how both stores keep it. */
export const writeProfile = (profile: Profile): string => {
  const kept: Partial<Profile> = { brazeId: profile.brazeId };
  if (profile.externalId !== null) kept.externalId = profile.externalId;
  if (profile.aliases.length > 0) kept.aliases = profile.aliases;
  if (profile.email !== null) kept.email = profile.email;
  if (profile.phone !== null) kept.phone = profile.phone;
  if (!isEmpty(profile.standard)) kept.standard = profile.standard;
  if (!isEmpty(profile.custom)) kept.custom = profile.custom;
  if (!isEmpty(profile.subscriptionGroups)) kept.subscriptionGroups = profile.subscriptionGroups;
  if (profile.pushTokens.length > 0) kept.pushTokens = profile.pushTokens;
  if (!isEmpty(profile.events)) kept.events = profile.events;
  if (!isEmpty(profile.purchases)) kept.purchases = profile.purchases;
  kept.createdAtMs = profile.createdAtMs;
  kept.updatedAtMs = profile.updatedAtMs;
  return JSON.stringify(kept);
};

export const readProfile = (text: string): Profile => completeProfile(JSON.parse(text) as KeptProfile);

type KeptProfile = Partial<Profile> & Pick<Profile, 'brazeId' | 'createdAtMs' | 'updatedAtMs'>;

/** Fills in the members that are empty. */
export const completeProfile = (kept: KeptProfile): Profile => ({
  brazeId: kept.brazeId,
  externalId: kept.externalId ?? null,
  aliases: kept.aliases ?? [],
  email: kept.email ?? null,
  phone: kept.phone ?? null,
  standard: kept.standard ?? {},
  custom: kept.custom ?? {},
  subscriptionGroups: kept.subscriptionGroups ?? {},
  pushTokens: kept.pushTokens ?? [],
  events: kept.events ?? {},
  purchases: kept.purchases ?? {},
  createdAtMs: kept.createdAtMs,
  updatedAtMs: kept.updatedAtMs,
});
