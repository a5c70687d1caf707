import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchBanners, signUserToken } from '../../src/server/index.ts';
import { APP_ID, aCampaign, aWorkspace, CLIENT_KEY } from '../helpers/a-workspace.ts';
import { freePort } from '../helpers/free-port.ts';
import { patience } from '../helpers/patience.ts';
import { type RunningService, runService } from '../helpers/running-service.ts';
import { ed25519Keys } from '../helpers/token-keys.ts';

const keys = ed25519Keys();
const nobodysPort = await freePort();
const NOW = Date.parse('2026-03-01T09:00:00Z');

describe('fetchBanners, against the service', () => {
  let service: RunningService;
  beforeAll(async () => {
    const apps = [
      { app_id: APP_ID },
      { app_id: 'signed', user_tokens: 'required', user_token_keys: [keys.publicPem] },
    ];
    service = await runService([
      aWorkspace({
        apps,
        campaigns: [
          aCampaign({ test_users: ['u-tester'] }),
          aCampaign({ campaign_id: 'c2', placements: ['__proto__'] }),
        ],
      }),
    ]);
  });
  afterAll(() => service.stop());

  const options = () => ({
    endpoint: service.url,
    apiKey: CLIENT_KEY,
    appId: APP_ID,
    appVersion: '1',
    userId: 'u-771',
    placements: ['home', 'side'],
    // The default of a second is short for the first request to a service on a busy machine.
    timeoutMs: patience(30_000),
    now: () => NOW,
  });
  const failing = async (members: Record<string, unknown>) => {
    const errors: Error[] = [];
    const bootstrap = await fetchBanners({
      ...options(),
      onError: (error) => errors.push(error),
      ...members,
    });
    return { bootstrap, errors: errors.map(({ message }) => message) };
  };

  test('returns the banners of the user, app and time as plain JSON', async () => {
    const bootstrap = await fetchBanners(options());
    expect(bootstrap).toEqual({
      version: 1,
      appId: APP_ID,
      userId: 'u-771',
      fetchedAtMs: NOW,
      banners: {
        home: {
          id: expect.stringMatching(/^bnr_/),
          placementId: 'home',
          isControl: false,
          isTestSend: false,
          expiresAt: null,
          properties: { headline: { type: 'string', value: 'Hello' } },
        },
        side: null,
      },
    });
    expect(JSON.parse(JSON.stringify(bootstrap))).toEqual(bootstrap);
  });

  test('requests each placement once, even if objects inherit its name', async () => {
    const { banners } = await fetchBanners({ ...options(), placements: ['__proto__', 'home', 'home'] });
    expect(Object.keys(banners)).toEqual(['__proto__', 'home']);
    expect(Object.values(banners)[0]).toMatchObject({ placementId: '__proto__' });
  });

  test('omits test sends', async () => {
    const { banners } = await fetchBanners({ ...options(), userId: 'u-tester' });
    expect(Object.keys(banners)).toEqual(['side']);
  });

  test('sends a user token if the app requires it', async () => {
    const signed = { ...options(), appId: 'signed' };
    const userToken = await signUserToken({
      privateKey: keys.privatePem,
      userId: 'u-771',
      appId: 'signed',
      now: () => NOW,
    });
    expect((await fetchBanners({ ...signed, userToken })).banners['home']).not.toBeNull();
    expect(await failing({ appId: 'signed' })).toMatchObject({
      bootstrap: { banners: {} },
      errors: ['POST /v1/device-messaging/banners/sync returned 401: Invalid user token'],
    });
  });

  test.each([
    ['a wrong key', { apiKey: 'wrong' }, /returned 401: Invalid API key$/],
    [
      'an unreachable service',
      { endpoint: `http://127.0.0.1:${nobodysPort}` },
      /was not sent: no connection/,
    ],
    [
      'a response that is not JSON',
      { fetch: async () => new Response('<p>Hello') },
      /a page that is not the API/,
    ],
    ['JSON in another format', { fetch: async () => Response.json([]) }, /returned no banners$/],
    [
      'an invalid banner',
      { fetch: async () => Response.json({ banners: { home: { id: 7 } } }) },
      /^invalid banner of "home": id$/,
    ],
    [
      'a timeout',
      {
        timeoutMs: 5,
        fetch: (_: unknown, { signal }: Request) =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason));
          }),
      },
      /no response arrived$/,
    ],
  ])('returns an empty bootstrap after %s, and calls onError', async (_, members, message) => {
    const { bootstrap, errors } = await failing(members);
    expect(bootstrap).toMatchObject({ userId: 'u-771', banners: {} });
    expect(errors).toEqual([expect.stringMatching(message)]);
  });

  test('does not retry, because a page is waiting', async () => {
    let asked = 0;
    const { errors } = await failing({
      fetch: async () => {
        asked += 1;
        return Response.json(
          { error: 'Service Unavailable' },
          { status: 503, headers: { 'retry-after': '1' } },
        );
      },
    });
    expect({ asked, errors: errors.length }).toEqual({ asked: 1, errors: 1 });
  });

  test.each([
    [{ placements: [] }, 'placements: expected 1 to 10, got 0'],
    [
      { placements: Array.from({ length: 11 }, (_, index) => `p${index}`) },
      'placements: expected 1 to 10, got 11',
    ],
    [{ userId: '' }, 'userId: expected a string'],
    [{ appId: undefined }, 'appId: expected a string'],
    [{ timeoutMs: 0 }, 'timeoutMs: expected a whole number from 1 to 2147483647, got 0'],
    [{ endpoint: 'here' }, "endpoint: 'here' is not an http(s) URL"],
  ])('throws for an invalid option: %j', async (wrong, message) => {
    await expect(fetchBanners({ ...options(), ...wrong } as never)).rejects.toThrow(message);
  });
});
