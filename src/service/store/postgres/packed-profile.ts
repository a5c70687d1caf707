import { getOwn, setOwn } from '../../profiles/own.ts';
import type { Profile, Tally } from '../../profiles/profile.ts';
import { readProfile, writeProfile } from '../../profiles/profile-text.ts';

/**
 * Most of a profile is tallies, and a row is written whole. So they lie in one flat list, four members each (five with
 * a revenue): name, first time counted from when the profile was made, last time counted from the first, count,
 * revenue. It is half as long, and takes half the time to write.
 */
type Packed = (string | number)[];

const EVENT_MEMBERS = 4;
const PURCHASE_MEMBERS = 5;

const packEvents = (events: Profile['events'], since: number): Packed => {
  const packed: Packed = [];
  for (const name in events) {
    const { first, last, count } = events[name]!;
    packed.push(name, first - since, last - first, count);
  }
  return packed;
};

const packPurchases = (purchases: Profile['purchases'], since: number): Packed => {
  const packed: Packed = [];
  for (const name in purchases) {
    const { first, last, count, revenue } = purchases[name]!;
    packed.push(name, first - since, last - first, count, revenue);
  }
  return packed;
};

export const packProfile = (profile: Profile): string => {
  const { createdAtMs } = profile;
  const events = packEvents(profile.events, createdAtMs);
  const purchases = packPurchases(profile.purchases, createdAtMs);
  return writeProfile({ ...profile, events, purchases } as unknown as Profile);
};

type Tallies = Record<string, Tally & { revenue?: number }>;

/** Into `tallies`, where those of the same names are kept: they are old, and new ones would have to grow old first. */
const unpackInto = (tallies: Tallies, packed: Packed | Tallies, members: number, since: number): Tallies => {
  // What version 1 of the schema has written is as it should be.
  if (!Array.isArray(packed)) return packed;
  let left = Object.keys(tallies).length;
  for (let i = 0; i < packed.length; i += members) {
    const name = packed[i] as string;
    const first = since + (packed[i + 1] as number);
    const last = first + (packed[i + 2] as number);
    const count = packed[i + 3] as number;
    const tally = getOwn(tallies, name);
    if (tally) {
      left -= 1;
      tally.first = first;
      tally.last = last;
      tally.count = count;
      if (members === PURCHASE_MEMBERS) tally.revenue = packed[i + 4] as number;
    } else {
      const revenue = packed[i + 4] as number;
      setOwn<Tallies[string]>(
        tallies,
        name,
        members === PURCHASE_MEMBERS ? { first, last, count, revenue } : { first, last, count },
      );
    }
  }
  // Some are gone, as after a merge.
  return left === 0 ? tallies : unpackInto({}, packed, members, since);
};

/** `outdated` is the same user as he was remembered, to be brought up to date. */
export const unpackProfile = (text: string, outdated?: Profile): Profile => {
  const latest = readProfile(text);
  const { createdAtMs } = latest;
  const events = unpackInto(outdated?.events ?? {}, latest.events, EVENT_MEMBERS, createdAtMs);
  const purchases = unpackInto(outdated?.purchases ?? {}, latest.purchases, PURCHASE_MEMBERS, createdAtMs);
  return Object.assign(outdated ?? latest, latest, { events, purchases: purchases as Profile['purchases'] });
};
