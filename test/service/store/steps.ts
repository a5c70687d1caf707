// What can be done to users, and users kept as plainly as can be, to hold a store against.
import type { Profile } from '../../../src/service/profiles/profile.ts';
import type { UserSet } from '../../../src/service/profiles/user-set.ts';
import fc from '../../helpers/property.ts';
import { anEvent, byExternalId } from './examples.ts';

export const NOW = Date.UTC(2026, 2, 1);
export const USERS = 8;

export type Step =
  | { do: 'attribute'; user: number; value: number }
  | { do: 'event'; user: number; value: number }
  | { do: 'both'; user: number; value: number }
  | { do: 'purchase'; user: number; value: number }
  | { do: 'rename'; user: number; value: number }
  | { do: 'merge'; user: number; value: number }
  | { do: 'remove'; user: number; value: number }
  | { do: 'throw'; user: number; value: number }
  | { do: 'ask'; user: number }
  | { do: 'reopen' }
  | { do: 'compare' };

/** What a step does to a set of users: the store's, or the plain one that the test keeps. */
export const perform = (users: UserSet, step: Extract<Step, { value: number }>): void => {
  const lookup = byExternalId(`u-${step.user}`);
  const profile = users.find(lookup)[0] ?? users.create({ externalId: `u-${step.user}` }, NOW);
  if (step.do === 'attribute' || step.do === 'both' || step.do === 'throw') {
    profile.custom['n'] = step.value;
    users.changed(profile);
  }
  if (step.do === 'event' || step.do === 'both') {
    users.record(profile, anEvent(profile, `e-${step.value % 3}`, NOW + step.value));
  }
  if (step.do === 'purchase') {
    const details = { price: step.value, quantity: 1 + (step.value % 4), currency: 'EUR' };
    users.record(profile, { ...anEvent(profile, 'sku'), kind: 'purchase', details });
  }
  if (step.do === 'rename') {
    profile.email = `${step.value}@example.org`;
    users.changed(profile);
  }
  if (step.do === 'merge') {
    const [other] = users.find(byExternalId(`u-${step.value % USERS}`));
    if (other && other !== profile) {
      profile.custom = { ...other.custom, ...profile.custom };
      profile.events = { ...other.events, ...profile.events };
      users.remove(other);
      users.replaced(profile);
    }
  }
  if (step.do === 'remove') users.remove(profile);
  if (step.do === 'throw') throw new Error('apply failed');
};

/** Users as plainly as can be: a list. */
export const plainUsers = () => {
  let profiles: Profile[] = [];
  let serial = 0;
  const users: UserSet = {
    find: (lookup) =>
      profiles.filter(({ externalId }) => lookup.by === 'external_id' && externalId === lookup.value),
    create: (fields, nowMs) => {
      serial += 1;
      const profile: Profile = {
        brazeId: `${serial}`,
        externalId: null,
        aliases: [],
        email: null,
        phone: null,
        standard: {},
        custom: {},
        subscriptionGroups: {},
        pushTokens: [],
        events: {},
        purchases: {},
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
        ...fields,
      };
      profiles.push(profile);
      return profile;
    },
    changed: () => undefined,
    replaced: () => undefined,
    remove: (profile) => {
      profiles = profiles.filter((other) => other !== profile);
    },
    record: (profile, event) => {
      const isEvent = event.kind === 'event';
      const tallies: Record<string, { first: number; last: number; count: number; revenue?: number }> =
        isEvent ? profile.events : profile.purchases;
      const { price = 0, quantity = 1 } = event.details as { price?: number; quantity?: number };
      const before = tallies[event.name] ?? {
        first: event.timeMs,
        last: event.timeMs,
        count: 0,
        ...(isEvent ? {} : { revenue: 0 }),
      };
      tallies[event.name] = {
        first: Math.min(before.first, event.timeMs),
        last: Math.max(before.last, event.timeMs),
        count: before.count + quantity,
        ...(isEvent ? {} : { revenue: before.revenue! + price * quantity }),
      };
    },
    addDataPoints: () => undefined,
  };
  return { users, all: () => profiles };
};

export const seen = (profiles: Profile[]) =>
  profiles
    .map(({ externalId, email, custom, events, purchases }) => ({
      externalId,
      email,
      custom,
      events,
      purchases,
    }))
    .toSorted((a, b) => (a.externalId! < b.externalId! ? -1 : 1));

const user = fc.integer({ min: 0, max: USERS - 1 });
const value = fc.integer({ min: 0, max: 1_000 });
export const step: fc.Arbitrary<Step> = fc.oneof(
  ...(['attribute', 'event', 'both', 'purchase'] as const).map((action) => ({
    weight: 4,
    arbitrary: fc.record({ do: fc.constant(action), user, value }) as fc.Arbitrary<Step>,
  })),
  ...(['rename', 'merge', 'remove', 'throw'] as const).map((action) => ({
    weight: 1,
    arbitrary: fc.record({ do: fc.constant(action), user, value }) as fc.Arbitrary<Step>,
  })),
  { weight: 3, arbitrary: fc.record({ do: fc.constant('ask'), user }) as fc.Arbitrary<Step> },
  { weight: 1, arbitrary: fc.constant({ do: 'reopen' }) },
  { weight: 1, arbitrary: fc.constant({ do: 'compare' }) },
);
