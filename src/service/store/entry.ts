import type { Profile } from '../profiles/profile.ts';
import type { StoredEvent } from '../profiles/stored-event.ts';

/** A profile in memory. */
export interface Entry {
  readonly workspaceId: string;
  readonly profile: Profile;
  /** Made by the works so far, and not stored yet. */
  isNew: boolean;
  removed: boolean;
  /** Notes of the store: which commit carries its latest change, and since which request its row is behind. */
  commit: number;
  behindSince: number;
}

/** What a work did to a profile, from the least to the most: the most counts. */
export type Change = 'recorded' | 'attributes' | 'whole' | 'removed';

const RANK: Record<Change, number> = { recorded: 0, attributes: 1, whole: 2, removed: 3 };

export const isMore = (change: Change, than: Change): boolean => RANK[change] > RANK[than];

/** What one piece of work has changed, ready to be stored. */
export interface Changes {
  entries: { entry: Entry; change: Change }[];
  keysAdded: { entry: Entry; key: string }[];
  keysRemoved: { entry: Entry; key: string }[];
  events: StoredEvent[];
  /** Data points by UTC day. */
  points: { day: string; count: number }[];
}

export type Names = Pick<Profile, 'externalId' | 'email' | 'phone' | 'aliases' | 'pushTokens'>;

export const NO_NAMES: Names = { externalId: null, email: null, phone: null, aliases: [], pushTokens: [] };

export const namesOf = ({ externalId, email, phone, aliases, pushTokens }: Profile): Names => ({
  externalId,
  email,
  phone,
  aliases,
  pushTokens,
});

/** Aliases and tokens are changed by putting a new array there, so that comparing the arrays is enough. */
export const sameNames = (a: Names, b: Names): boolean =>
  a.externalId === b.externalId &&
  a.email === b.email &&
  a.phone === b.phone &&
  a.aliases === b.aliases &&
  a.pushTokens === b.pushTokens;

/** An entry as the working set keeps it; `S` is where it belongs. */
export interface LiveEntry<S> extends Entry {
  readonly space: S;
  touched: boolean;
  change: Change;
  /** The names it is stored under. */
  names: Names;
  /** The names it can be found under here. */
  indexed: Names;
}

/** Leads from a profile to its entry: the hottest step of all, and a member is the fastest way. */
const ENTRY = Symbol('entry');
type Linked = Profile & { [ENTRY]?: unknown };

export const createEntry = <S extends { workspaceId: string }>(space: S, profile: Profile): LiveEntry<S> => {
  const names = namesOf(profile);
  const entry: LiveEntry<S> = {
    workspaceId: space.workspaceId,
    space,
    profile,
    isNew: false,
    removed: false,
    commit: 0,
    behindSince: 0,
    touched: false,
    change: 'recorded',
    names,
    indexed: names,
  };
  (profile as Linked)[ENTRY] = entry;
  return entry;
};

/** The entry of a profile that `space` gave out. */
export const entryOf = <S>(space: S, profile: Profile): LiveEntry<S> => {
  const entry = (profile as Linked)[ENTRY] as LiveEntry<S> | undefined;
  if (entry?.space !== space) throw new Error('The profile does not belong to this set of users');
  return entry;
};

/** Lets a profile outlive its set without holding on to it. */
export const unlink = (profile: Profile): void => {
  (profile as Linked)[ENTRY] = undefined;
};
