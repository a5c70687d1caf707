import { createRestClient, type RestClientOptions } from '../../src/server/index.ts';
import { createFakeService, type FakeServiceOptions } from '../../src/testing/index.ts';

/** A REST client on the fake service. Delays advance its clock and are recorded in `waits`. */
export const arrangeRestClient = (
  options: Partial<Omit<RestClientOptions, 'instance' | 'endpoint'>> = {},
  service: Partial<FakeServiceOptions> = {},
) => {
  let nowMs = Date.UTC(2026, 0, 1);
  const waits: number[] = [];
  const fake = createFakeService({ now: () => nowMs, ...service });
  const client = createRestClient({
    endpoint: fake.origin,
    apiKey: 'server-key',
    fetch: fake.fetch,
    now: () => nowMs,
    random: () => 0.5,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      waits.push(ms);
      nowMs += ms;
    },
    ...options,
  });
  return { client, fake, waits, now: () => nowMs };
};

/** Events of different users, or all with one name. */
export const someEvents = (count: number, user?: string) =>
  Array.from({ length: count }, (_, at) => ({
    external_id: user ?? `u-${at}`,
    name: `event-${at}`,
    time: '2026-01-01T00:00:00Z',
  }));
