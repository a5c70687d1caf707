import { describe, expect, it } from 'vitest';
import { userKeys } from '../../src/server/track-batches.ts';
import fc from '../helpers/property.ts';
import { arrangeRestClient, someEvents } from '../helpers/rest-client.ts';

const TIME = '2026-01-01T00:00:00Z';

/** Client that counts its requests in flight. */
const arrangeCounting = () => {
  let open = 0;
  let most = 0;
  const arranged = arrangeRestClient({
    fetch: async (input, init) => {
      open += 1;
      most = Math.max(most, open);
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      return arranged.fake.fetch(input, init);
    },
  });
  return { arranged, mostAtOnce: () => most };
};

describe('the order of a user’s objects', () => {
  it('is kept because each request waits for earlier ones of the same user', async () => {
    const open = new Set<string>();
    let most = 0;
    const arranged = arrangeRestClient({
      fetch: async (input, init) => {
        const request = new Request(input as Request, init);
        const { events } = (await request.clone().json()) as { events: { external_id: string }[] };
        const users = new Set(events.map(({ external_id }) => external_id));
        for (const user of users) expect(open).not.toContain(user);
        for (const user of users) open.add(user);
        most = Math.max(most, open.size);
        await new Promise((resolve) => setImmediate(resolve));
        for (const user of users) open.delete(user);
        return arranged.fake.fetch(request);
      },
    });
    const user = fc.integer({ min: 0, max: 20 }).map((at) => `u-${at}`);
    await fc.assert(
      fc.asyncProperty(fc.array(user, { minLength: 200, maxLength: 400 }), async (users) => {
        arranged.fake.clear();
        const events = users.map((external_id, at) => ({ external_id, name: `${at}`, time: TIME }));
        await arranged.client.track({ events }, { concurrency: 4 });
        for (const each of new Set(users)) {
          const names = arranged.fake.objects
            .filter(({ object }) => object['external_id'] === each)
            .map(({ object }) => Number(object['name']));
          expect(names).toEqual([...names].sort((a, b) => a - b));
        }
      }),
      { numRuns: 10 },
    );
  });

  it('allows concurrent requests of different users', async () => {
    const { arranged, mostAtOnce } = arrangeCounting();
    await arranged.client.track({ events: someEvents(75 * 6) }, { concurrency: 3 });
    expect(mostAtOnce()).toBe(3);
  });

  it('is kept over retries, because later requests wait', async () => {
    const { client, fake } = arrangeRestClient();
    fake.fail({ type: 'status', status: 503 }, { times: 2 });
    await client.track({ events: someEvents(150, 'one') });
    expect(fake.objects.map(({ object }) => object['name'])).toEqual(
      Array.from({ length: 150 }, (_, at) => `event-${at}`),
    );
  });

  it.each([
    { phone: ['+49 171 7654321', '+491717654321'] },
    { phone: ['+49(171)765-43-21', '+49 171 7654321'] },
    { email: ['Kim@Example.org', 'kim@example.org'] },
  ])('is kept for spellings that the service treats as equal: %j', async (names) => {
    const [[kind, [first, second]]] = Object.entries(names) as [[string, [string, string]]];
    const { arranged, mostAtOnce } = arrangeCounting();
    const others = Array.from({ length: 74 }, (_, at) => ({ external_id: `u-${at}` }));
    await arranged.client.track({
      attributes: [{ [kind]: first, tier: 'old' }, ...others, { [kind]: second, tier: 'new' }],
    });
    expect([arranged.fake.requests.length, mostAtOnce()]).toEqual([2, 1]);
  });

  it('considers every identifier of a user, and ignores case in e-mail addresses', () => {
    expect(
      userKeys({
        external_id: 5,
        user_alias: { alias_name: 'n', alias_label: 'l' },
        email: 'Kim@Example.org',
        phone: '+123',
        braze_id: null,
      }),
    ).toEqual(['external_id:5', 'alias:["l","n"]', 'email:kim@example.org', 'phone:+123']);
    expect(userKeys({ external_id: '' })).toEqual([]);
    expect(userKeys(null)).toEqual([]);
  });
});
