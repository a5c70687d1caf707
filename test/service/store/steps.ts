// Operations on users, and a reference implementation to compare a store with.

import type { Lookup } from '../../../src/service/profiles/lookup.ts';
import { createProfile, type Profile } from '../../../src/service/profiles/profile.ts';
import type { UserRepository } from '../../../src/service/profiles/user-repository.ts';
import type { StoreReader } from '../../../src/service/store/index.ts';
import { aBannerEvent } from '../../helpers/banner-events.ts';
import fc from '../../helpers/property.ts';
import { anEvent, aPurchase, byExternalId, collect } from './examples.ts';

export const NOW = Date.UTC(2026, 2, 1, 9, 0, 0);
const USERS = 6;
const ACTIONS = [
  'attribute',
  'event',
  'purchase',
  'banner event',
  'anonymous event',
  'identify',
  'rename',
  'merge',
  'remove',
  'forget',
  'throw',
] as const;

export interface Step {
  do: (typeof ACTIONS)[number];
  user: number;
  value: number;
}

const getUser = (n: number) => byExternalId(`u-${n % USERS}`);
const getAnonymous = (n: number): Lookup => ({ by: 'email', value: `anonymous-${n % USERS}@example.org` });

/** All lookups that a step may use. */
export const getLookups = ({ user, value }: Step): Lookup[] => [
  getUser(user),
  getUser(value),
  getAnonymous(user),
];

/** Applies a step to the store's users or to the reference users. */
export const perform = (users: UserRepository, step: Step): void => {
  const { user, value } = step;
  const externalId = `u-${user % USERS}`;
  const known = (lookup: Lookup) => users.find(lookup)[0];
  const mine = () => known(getUser(user)) ?? users.create({ externalId }, NOW);
  switch (step.do) {
    case 'attribute': {
      const profile = mine();
      profile.custom['n'] = value;
      users.changed(profile, NOW);
      break;
    }
    case 'event': {
      const profile = mine();
      users.record(profile, anEvent(profile, `e-${value % 3}`, NOW + value));
      break;
    }
    case 'purchase': {
      const profile = mine();
      users.record(profile, { ...aPurchase(profile), price: value, quantity: 1 + (value % 4) });
      break;
    }
    case 'banner event':
      users.recordBannerEvents(externalId, [aBannerEvent({ timeMs: NOW + (value % 20) })], NOW, true);
      break;
    case 'anonymous event': {
      const lookup = getAnonymous(user);
      const profile = known(lookup) ?? users.create({ email: String(lookup.value) }, NOW);
      users.record(profile, anEvent(profile, 'anonymous', NOW + value));
      break;
    }
    case 'identify': {
      const found = known(getAnonymous(user));
      const target = known(getUser(value));
      if (!found || found.externalId !== null) break;
      if (target) users.merge(target, found, NOW);
      else {
        found.externalId = `u-${value % USERS}`;
        users.changed(found, NOW);
      }
      break;
    }
    case 'rename': {
      const profile = mine();
      profile.email = `${value}@example.org`;
      users.changed(profile, NOW);
      break;
    }
    case 'merge': {
      const profile = mine();
      const other = known(getUser(value));
      if (!other || other === profile) break;
      profile.custom = { ...other.custom, ...profile.custom };
      users.merge(profile, other, NOW);
      break;
    }
    case 'remove':
      users.erase(mine());
      break;
    case 'forget':
      users.eraseByExternalId(externalId);
      break;
    case 'throw':
      mine().custom['n'] = 'halfway';
      users.recordBannerEvents('u-thrown', [aBannerEvent()], NOW, true);
      throw new Error('apply failed');
  }
};

interface PlainUser {
  externalId: string | null;
  profile: Profile | null;
  events: string[];
  bannerEvents: number[];
}

/** Reference implementation of users: a plain list. */
export const plainUsers = () => {
  let all: PlainUser[] = [];
  const ofProfile = (profile: Profile) => all.find((user) => user.profile === profile)!;
  const getBearer = (externalId: string | null) =>
    externalId === null ? undefined : all.find((user) => (user.profile ?? user).externalId === externalId);
  const absorb = (kept: PlainUser, merged: PlainUser) => {
    kept.events.push(...merged.events);
    kept.bannerEvents = [...new Set([...kept.bannerEvents, ...merged.bannerEvents])];
    all = all.filter((user) => user !== merged);
  };
  const users: UserRepository = {
    find: ({ by, value }) =>
      all.flatMap(({ profile }) =>
        profile && (by === 'email' ? profile.email : profile.externalId) === value ? [profile] : [],
      ),
    create(fields, nowMs) {
      const profile = createProfile({ ...fields, userId: 0, createdAtMs: nowMs, updatedAtMs: nowMs });
      const bare = getBearer(profile.externalId);
      if (bare) bare.profile = profile;
      else all.push({ externalId: null, profile, events: [], bannerEvents: [] });
      return profile;
    },
    changed(profile) {
      const user = ofProfile(profile);
      const bare = all.find(
        (other) => !other.profile && other.externalId !== null && other.externalId === profile.externalId,
      );
      if (bare) absorb(user, bare);
    },
    merge: (kept, merged) => absorb(ofProfile(kept), ofProfile(merged)),
    erase(profile) {
      all = all.filter((user) => user.profile !== profile);
    },
    eraseByExternalId(externalId) {
      const before = all.length;
      const user = getBearer(externalId);
      all = all.filter((other) => other !== user);
      return all.length < before;
    },
    // For integrations, which steps do not use.
    deleteRejects: () => undefined,
    record(profile, event) {
      const [tallies, name, quantity] =
        event.kind === 'event'
          ? [profile.events, event.name, 1]
          : [profile.purchases, event.productId, event.quantity];
      ofProfile(profile).events.push(`${name} ${event.timeMs}`);
      const { timeMs } = event;
      const before = tallies[name] ?? { first: timeMs, last: timeMs, count: 0, revenue: 0 };
      const after = {
        first: Math.min(before.first, timeMs),
        last: Math.max(before.last, timeMs),
        count: before.count + quantity,
      };
      if (event.kind === 'event') profile.events[name] = after;
      else {
        const { revenue } = before as Profile['purchases'][string];
        profile.purchases[name] = { ...after, revenue: revenue + event.price * quantity };
      }
    },
    recordBannerEvents(externalId, events) {
      let user = getBearer(externalId);
      if (!user) {
        user = { externalId, profile: null, events: [], bannerEvents: [] };
        all.push(user);
      }
      user.bannerEvents = [...new Set([...user.bannerEvents, ...events.map(({ timeMs }) => timeMs)])];
      return true;
    },
    expire: () => undefined,
    addDataPoints: () => undefined,
  };

  return {
    users,
    /** Returns the same as `seenIn` for a store after the same steps. */
    seen: () => ({
      users: all
        .flatMap(({ profile }) => (profile ? [profile] : []))
        .map(describe)
        .toSorted(),
      events: all
        .flatMap(({ profile, events }) => events.map((event) => `${profile?.externalId} ${event}`))
        .toSorted(),
      bannerEvents: all
        .flatMap(({ profile, externalId, bannerEvents }) =>
          bannerEvents.map((timeMs) => `${(profile ?? { externalId }).externalId} ${timeMs}`),
        )
        .toSorted(),
    }),
  };
};

const inOrder = (record: object) => Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));

const describe = ({ externalId, email, custom, events, purchases }: Profile) =>
  JSON.stringify(
    { externalId, email, custom, events: inOrder(events), purchases: inOrder(purchases) },
    (_, value) =>
      // PostgreSQL reorders the members.
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(inOrder(value))
        : value,
  );

/** Reads everything in a store that steps can create. */
export const seenIn = async (store: StoreReader) => {
  const events = await collect(store.exportEvents('demo'));
  const bannerEvents = await collect(store.exportBannerEvents('demo'));
  return {
    users: (await collect(store.exportUsers('demo'))).map(describe).toSorted(),
    events: events
      .map((event) =>
        [event.externalId, event.kind === 'event' ? event.name : event.productId, event.timeMs]
          .map(String)
          .join(' '),
      )
      .toSorted(),
    bannerEvents: bannerEvents.map(({ externalId, timeMs }) => `${externalId} ${timeMs}`).toSorted(),
  };
};

export const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom(...ACTIONS),
  user: fc.nat({ max: USERS - 1 }),
  value: fc.nat({ max: 1_000 }),
});
