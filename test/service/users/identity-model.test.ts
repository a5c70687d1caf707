// Compares a small reference model of contract section 4 with the service on random requests.
import { expect, test } from 'vitest';
import fc, { times } from '../../helpers/property.ts';
import { anApi, NOW, onBothStores } from './on-both-stores.ts';

/** 2,000 sequences, because each run is a batch of concurrent ones. */
const SEQUENCES = times(200);
const SIDE_BY_SIDE = 40;

interface Alias {
  alias_name: string;
  alias_label: string;
}
interface Sent {
  external_id?: string;
  user_alias?: Alias;
  braze_id?: string;
  email?: string;
  phone?: string;
  _update_existing_only?: boolean;
}
interface Request {
  attributes: Sent[];
  events: Sent[];
  /** Seconds since the previous request. */
  pause: number;
}

interface Person {
  created: number;
  updated: number;
  externalId: string | null;
  alias: Alias | null;
  email: string | null;
  phone: string | null;
  marks: string[];
}

const email = (text: string) => text.toLowerCase();
const phone = (text: string) => text.replace(/[ ()-]/g, '');

/** Reference implementation of the tables in 4.1 to 4.3. Returns whether the object is accepted. */
const applySent = (people: Person[], sent: Sent, mark: string, now: number): boolean => {
  const primaries = [sent.external_id, sent.user_alias, sent.braze_id].filter((id) => id !== undefined);
  if (primaries.length > 1) return false;
  if (primaries.length === 0 && sent.email === undefined && sent.phone === undefined) return false;

  const lookUp = (): Person[] => {
    if (sent.external_id !== undefined) return people.filter((p) => p.externalId === sent.external_id);
    if (sent.user_alias) {
      const { alias_name, alias_label } = sent.user_alias;
      return people.filter((p) => p.alias?.alias_name === alias_name && p.alias.alias_label === alias_label);
    }
    if (sent.braze_id !== undefined) return [];
    if (sent.email !== undefined) {
      return people.filter((p) => p.email !== null && email(p.email) === email(sent.email!));
    }
    return people.filter((p) => p.phone !== null && phone(p.phone) === phone(sent.phone!));
  };
  const found = lookUp();
  const identified = found.filter((p) => p.externalId !== null);
  const among = identified.length > 0 ? identified : found;
  let person = among.toSorted((a, b) => b.updated - a.updated || b.created - a.created)[0];

  if (!person) {
    if (sent._update_existing_only === true) return true;
    if (sent.user_alias && sent._update_existing_only !== false) return true;
    person = {
      created: people.length,
      updated: now,
      externalId: sent.external_id ?? null,
      alias: sent.user_alias ?? null,
      email: null,
      phone: null,
      marks: [],
    };
    people.push(person);
    if (primaries.length === 0) {
      if (sent.email !== undefined) person.email = sent.email;
      else person.phone = sent.phone!;
    }
  }
  if (primaries.length === 1 && sent.email !== undefined) person.email = sent.email;
  if ((primaries.length === 1 || sent.email !== undefined) && sent.phone !== undefined)
    person.phone = sent.phone;
  person.updated = now;
  person.marks.push(mark);
  return true;
};

const maybe = <T>(arbitrary: fc.Arbitrary<T>, weight = 1) =>
  fc.option(arbitrary, { nil: undefined, freq: weight });
const sentObject: fc.Arbitrary<Sent> = fc
  .record({
    external_id: maybe(fc.constantFrom('a', 'b', 'c')),
    user_alias: maybe(
      fc.constantFrom({ alias_name: 'n', alias_label: 'l' }, { alias_name: 'N', alias_label: 'l' }),
    ),
    braze_id: fc.option(fc.constant('never-given'), { nil: undefined, freq: 9 }),
    email: maybe(fc.constantFrom('kim@example.org', 'KIM@Example.org', 'lee@example.org')),
    phone: maybe(fc.constantFrom('+48123456789', '+48 123-456-789', '+48987654321')),
    _update_existing_only: maybe(fc.boolean()),
  })
  .map((sent) => JSON.parse(JSON.stringify(sent)) as Sent);
const request: fc.Arbitrary<Request> = fc.record({
  attributes: fc.array(sentObject, { maxLength: 3 }),
  events: fc.array(sentObject, { maxLength: 3 }),
  pause: fc.integer({ min: 0, max: 2 }),
});
const sequence = fc.array(request, { minLength: 1, maxLength: 5 });

const describePerson = (person: Omit<Person, 'created' | 'updated'>) => JSON.stringify(person);

const TIME = '2026-02-01T00:00:00Z';

onBothStores('contract 4: a model of the identifier rules', (_, store) => {
  test(
    `matches the service in ${SEQUENCES} random sequences of requests`,
    async () => {
      const play = async (requests: Request[]) => {
        const api = anApi(store());
        const people: Person[] = [];
        let now = NOW;
        for (const [number, { attributes, events, pause }] of requests.entries()) {
          now += pause * 1_000;
          api.clock.now = now;
          let accepted = 0;
          attributes.forEach((sent, index) => {
            if (applySent(people, sent, `a${number}.${index}`, now)) accepted += 1;
          });
          events.forEach((sent, index) => {
            if (applySent(people, sent, `e${number}.${index}`, now)) accepted += 1;
          });
          const answer = await api.track({
            attributes: attributes.map((sent, index) => ({ ...sent, [`a${number}.${index}`]: true })),
            events: events.map((sent, index) => ({ ...sent, name: `e${number}.${index}`, time: TIME })),
          });
          expect(answer.status).toBe(accepted > 0 ? 201 : 400);
        }
        const users = (await api.users()).map((user) =>
          describePerson({
            externalId: (user['external_id'] as string | undefined) ?? null,
            alias: ((user['user_aliases'] as Alias[] | undefined) ?? [null])[0] ?? null,
            email: (user['email'] as string | undefined) ?? null,
            phone: (user['phone'] as string | undefined) ?? null,
            marks: [
              ...Object.keys((user['custom_attributes'] as object | undefined) ?? {}),
              ...((user['custom_events'] as { name: string }[] | undefined) ?? []).map(({ name }) => name),
            ].toSorted(),
          }),
        );
        const expected = people.map(({ externalId, alias, email, phone, marks }) =>
          describePerson({ externalId, alias, email, phone, marks: marks.toSorted() }),
        );
        expect(users.toSorted()).toEqual(expected.toSorted());
      };
      await fc.assert(
        fc.asyncProperty(
          fc.array(sequence, { minLength: SIDE_BY_SIDE, maxLength: SIDE_BY_SIDE }),
          async (sequences) => {
            await Promise.all(sequences.map(play));
          },
        ),
        { numRuns: Math.ceil(SEQUENCES / SIDE_BY_SIDE), endOnFailure: true },
      );
    },
    times(180_000),
  );
});
