import { expect, test } from 'vitest';
import { createUserIds, type Lookup } from '../../../src/service/profiles/lookup.ts';
import type { UserRepository } from '../../../src/service/profiles/user-repository.ts';
import { createUserWorkingSet } from '../../../src/service/profiles/user-working-set.ts';
import { trackMutation } from '../../../src/service/users/track-mutation.ts';
import fc from '../../helpers/property.ts';
import { aTrack, TIME } from './a-track.ts';

const EMAILS = ['kim@example.org', 'KIM@example.org', 'lee@example.org'];
const PHONES = ['+14155550101', '+1 415 555 0101', '+14155550102'];
const NAMES = ['a', 'b', 'c', 'd'];

interface Sent {
  attributes?: object[];
  events?: object[];
}

/** In-memory users, with a count of address lookups per request. */
const aService = () => {
  const { value: users } = createUserWorkingSet(createUserIds()).change({ users: [] }, (getUsers) =>
    getUsers('test'),
  );
  let lookups = 0;
  const counting: UserRepository = {
    ...users,
    find(lookup) {
      if (lookup.by === 'email' || lookup.by === 'phone') lookups += 1;
      return users.find(lookup);
    },
  };
  return {
    track(sent: Sent, nowMs: number): number {
      lookups = 0;
      trackMutation({ ...aTrack(sent), nowMs }).apply(counting);
      return lookups;
    },
    everybody() {
      const all: Lookup[] = [
        ...EMAILS.map((value): Lookup => ({ by: 'email', value })),
        ...PHONES.map((value): Lookup => ({ by: 'phone', value })),
        ...NAMES.map((value): Lookup => ({ by: 'external_id', value })),
      ];
      return all.map((lookup) =>
        users
          .find(lookup)
          .map(({ externalId, email, phone, custom, events }) => ({
            externalId,
            email,
            phone,
            // Objects that were applied, in no particular order.
            did: [...Object.keys(custom), ...Object.keys(events)].sort(),
          }))
          .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
      );
    },
  };
};

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const who = fc.record(
  {
    external_id: maybe(fc.constantFrom(...NAMES)),
    email: fc.option(fc.constantFrom(...EMAILS)),
    phone: fc.option(fc.constantFrom(...PHONES)),
  },
  { requiredKeys: [] },
);

test('finds the same users as if it processed objects one by one', () => {
  const population = fc.array(fc.tuple(who, fc.integer({ min: 1, max: 5 })), { maxLength: 8 });
  const objects = fc.array(who, { maxLength: 8 });
  fc.assert(
    fc.property(population, objects, objects, (before, attributes, events) => {
      const together = aService();
      const apart = aService();
      const present = Date.UTC(2026, 2, 1);
      for (const service of [together, apart]) {
        for (const [each, days] of before) service.track({ attributes: [each] }, present - days * 86_400_000);
      }
      const marked: Sent = {
        attributes: attributes.map((each, index) => ({ ...each, [`attribute ${index}`]: true })),
        events: events.map((each, index) => ({ ...each, name: `event ${index}`, time: TIME })),
      };
      together.track(marked, present);
      for (const each of marked.attributes!) apart.track({ attributes: [each] }, present);
      for (const each of marked.events!) apart.track({ events: [each] }, present);
      expect(together.everybody()).toEqual(apart.everybody());
    }),
    { numRuns: 4_000 },
  );
});

test('compares users of a shared address only once for all objects', () => {
  const email = 'noreply@shop.example';
  const service = aService();
  const shared = Array.from({ length: 2_000 }, (_, i) => ({ external_id: `u-${i}`, email }));
  service.track({ attributes: shared }, 1);
  const looked = service.track(
    {
      attributes: Array.from({ length: 500 }, (_, i) => ({ email, tier: i })),
      events: Array.from({ length: 500 }, (_, i) => ({
        ...(i % 2 === 0 ? { email } : { external_id: `u-${i}`, email }),
        name: 'seen',
        time: TIME,
      })),
    },
    2,
  );
  expect(looked).toBe(1);
});
