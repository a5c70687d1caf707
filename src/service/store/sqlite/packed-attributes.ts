import type { Profile } from '../../profiles/profile.ts';

/** What changes of a profile without its names and without what the user did. */
export type Attributes = Pick<Profile, 'standard' | 'custom' | 'subscriptionGroups' | 'updatedAtMs'>;

/** The attributes of one user as a request left them, as the journal keeps them. */
export type PackedAttributes = [
  brazeId: string,
  standard: Attributes['standard'],
  custom: Attributes['custom'],
  subscriptionGroups: Attributes['subscriptionGroups'],
  updatedAtMs: number,
];

/** How they were written first. */
type FirstPacked = [brazeId: string, attributes: Attributes];

export const packAttributes = (profile: Profile): PackedAttributes => [
  profile.brazeId,
  profile.standard,
  profile.custom,
  profile.subscriptionGroups,
  profile.updatedAtMs,
];

const isFirst = (packed: PackedAttributes | FirstPacked): packed is FirstPacked => packed.length === 2;

/** A journal row's users with their attributes. */
export const unpackAttributes = (text: string): { brazeId: string; attributes: Attributes }[] =>
  (JSON.parse(text) as (PackedAttributes | FirstPacked)[]).map((packed) => {
    if (isFirst(packed)) return { brazeId: packed[0], attributes: packed[1] };
    const [brazeId, standard, custom, subscriptionGroups, updatedAtMs] = packed;
    return { brazeId, attributes: { standard, custom, subscriptionGroups, updatedAtMs } };
  });
