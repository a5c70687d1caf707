import type { Profile } from './profile.ts';

/** What is `undefined` is left out of JSON. */
const unlessEmpty = <T extends object>(value: T): T | undefined => {
  // Asking a list like a record would make a text of each of its indices.
  if (Array.isArray(value)) return value.length > 0 ? value : undefined;
  for (const _ in value) return value;
  return undefined;
};

/** A profile as one line of JSON, without the members that are empty: how both stores keep it. */
export const writeProfile = (profile: Profile): string =>
  JSON.stringify({
    brazeId: profile.brazeId,
    externalId: profile.externalId ?? undefined,
    aliases: unlessEmpty(profile.aliases),
    email: profile.email ?? undefined,
    phone: profile.phone ?? undefined,
    standard: unlessEmpty(profile.standard),
    custom: unlessEmpty(profile.custom),
    subscriptionGroups: unlessEmpty(profile.subscriptionGroups),
    pushTokens: unlessEmpty(profile.pushTokens),
    events: unlessEmpty(profile.events),
    purchases: unlessEmpty(profile.purchases),
    createdAtMs: profile.createdAtMs,
    updatedAtMs: profile.updatedAtMs,
  });

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
