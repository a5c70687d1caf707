import { expect, test } from 'vitest';
import { createUserIds } from '../../../src/service/profiles/lookup.ts';
import type { Profile } from '../../../src/service/profiles/profile.ts';
import type { UserRepository } from '../../../src/service/profiles/user-repository.ts';
import { createUserWorkingSet } from '../../../src/service/profiles/user-working-set.ts';
import { trackMutation } from '../../../src/service/users/track-mutation.ts';
import fc from '../../helpers/property.ts';
import { aTrack, GROUP } from './a-track.ts';

/** In-memory users, the address lookups of the latest request, and the users it changed. */
const aService = () => {
  const { value: users } = createUserWorkingSet(createUserIds()).change({ users: [] }, (getUsers) =>
    getUsers('test'),
  );
  let lookups = 0;
  const changed = new Set<Profile>();
  const counting: UserRepository = {
    ...users,
    find(lookup) {
      if (lookup.by === 'email') lookups += 1;
      return users.find(lookup);
    },
    changed(profile, nowMs) {
      changed.add(profile);
      users.changed(profile, nowMs);
    },
  };
  return {
    work: () => ({ lookups, changed: changed.size }),
    track(attributes: object[], nowMs?: number) {
      lookups = 0;
      changed.clear();
      const track = aTrack({ attributes });
      trackMutation({ ...track, nowMs: nowMs ?? track.nowMs }).apply(counting);
    },
    states: (externalId: string) =>
      users.find({ by: 'external_id', value: externalId }).map((profile) => ({
        email: profile.email,
        state: profile.standard['email_subscribe'],
        group: profile.subscriptionGroups[GROUP]?.state,
        custom: profile.custom,
        updatedAtMs: profile.updatedAtMs,
      })),
    byEmail: (value: string) =>
      users.find({ by: 'email', value }).map(({ externalId, standard, subscriptionGroups }) => ({
        externalId,
        state: standard['email_subscribe'],
        group: subscriptionGroups[GROUP]?.state,
      })),
  };
};

const EMAILS = ['kim@example.org', 'KIM@example.org', 'lee@example.org'];
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const object = fc.record(
  {
    external_id: maybe(fc.constantFrom('a', 'b', 'c', 'd')),
    email: fc.option(fc.constantFrom(...EMAILS)),
    email_subscribe: maybe(fc.constantFrom('subscribed', 'unsubscribed', 'opted_in')),
    subscription_groups: maybe(
      fc
        .constantFrom('subscribed', 'unsubscribed')
        .map((subscription_state) => [{ subscription_group_id: GROUP, subscription_state }]),
    ),
    _update_existing_only: maybe(fc.boolean()),
  },
  { requiredKeys: [] },
);

test('applies the objects of a request as if it processed them one by one', () => {
  fc.assert(
    fc.property(fc.array(object, { maxLength: 8 }), (objects) => {
      const marked = objects.map((each, index) => ({ ...each, [`o${index}`]: true }));
      const together = aService();
      const apart = aService();
      together.track(marked);
      for (const each of marked) apart.track([each]);
      for (const id of ['a', 'b', 'c', 'd']) expect(together.states(id)).toEqual(apart.states(id));
      for (const email of EMAILS) expect(together.byEmail(email)).toEqual(apart.byEmail(email));
    }),
    { numRuns: 3_000 },
  );
});

test('reads the users of a shared address once for all objects, and skips those who already have the state', () => {
  const email = 'noreply@shop.example';
  const objects = (from: number, email_subscribe: string) =>
    Array.from({ length: 1_000 }, (_, i) => ({ external_id: `u-${from + i}`, email, email_subscribe }));
  const service = aService();
  for (let from = 0; from < 20_000; from += 1_000) {
    service.track(objects(from, 'unsubscribed'));
    expect(service.work()).toEqual({ lookups: 1, changed: 1_000 });
  }
  service.track(objects(0, 'subscribed'));
  expect(service.work()).toEqual({ lookups: 1, changed: 20_000 });
  expect(new Set(service.byEmail(email).map(({ state }) => state))).toEqual(new Set(['subscribed']));
});

test('updates the time of a profile for a new state from another user with the address', () => {
  const [email, nowMs] = ['kim@example.org', Date.UTC(2026, 2, 2)];
  const service = aService();
  service.track([
    { external_id: 'a', email },
    { external_id: 'b', email, email_subscribe: 'unsubscribed' },
  ]);
  service.track([{ external_id: 'c', email, email_subscribe: 'opted_in' }], nowMs);
  const times = ['a', 'b', 'c'].map((id) => service.states(id)[0]!.updatedAtMs);
  expect(times).toEqual([nowMs, nowMs, nowMs]);
  service.track([{ external_id: 'c', email, email_subscribe: 'opted_in' }], nowMs + 1);
  expect(service.states('a')[0]!.updatedAtMs).toBe(nowMs);
});
