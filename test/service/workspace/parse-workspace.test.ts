import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { WorkspaceError } from '../../../src/service/index.ts';
import { parseWorkspace } from '../../../src/service/workspace/parse-workspace.ts';
import { APP_ID, aCampaign, aVariant, aWorkspace, CLIENT_KEY } from '../../helpers/a-workspace.ts';

const problemsOf = (members: Record<string, unknown>): readonly string[] => {
  try {
    parseWorkspace(aWorkspace(members), 'demo.json');
  } catch (error) {
    expect(error).toBeInstanceOf(WorkspaceError);
    return (error as WorkspaceError).problems;
  }
  return [];
};
const inCampaign = (members: Record<string, unknown>) => problemsOf({ campaigns: [aCampaign(members)] });
const inVariant = (members: Record<string, unknown>) => inCampaign({ variants: [aVariant(members)] });
const inProperty = (property: unknown) => inVariant({ properties: { p: property } });
const clientKey = (members: Record<string, unknown>) => ({
  type: 'client',
  key: 'k',
  permissions: [],
  ...members,
});

describe('a workspace file', () => {
  test('needs an ID, apps and keys, and nothing else', () => {
    const workspace = parseWorkspace({ workspace_id: 'w', apps: [{ app_id: 'any text' }], api_keys: [] });
    expect(workspace).toMatchObject({
      workspaceId: 'w',
      name: 'w',
      integrations: null,
      trackObjects: 'combined',
      bannersEnabled: true,
      campaigns: [],
    });
    expect(workspace.appIds).toEqual(new Set(['any text']));
  });

  test('means the same with null as without the member', () => {
    const optional = [
      'name',
      'company_id',
      'placements',
      'campaigns',
      'integrations',
      'subscription_groups',
      'blocked_external_ids',
      'banners',
      'limits',
    ];
    const nulls = Object.fromEntries(optional.map((name) => [name, null]));
    const shape = (content: unknown) =>
      JSON.stringify(parseWorkspace(content), (_, value) =>
        value instanceof Set || value instanceof Map ? [...value] : value,
      );
    expect(shape(aWorkspace(nulls))).toBe(shape(aWorkspace()));
    const campaign = {
      name: null,
      priority: null,
      starts_at: null,
      ends_at: null,
      audience: null,
      control_percentage: null,
      reeligible_after_hours: null,
      test_users: null,
    };
    expect(inCampaign(campaign)).toEqual([]);
    expect(inVariant({ weight: null, expires_after_seconds: null, name: null })).toEqual([]);
    expect(problemsOf({ limits: { users_track: null, banners_sync: null } })).toEqual([]);
  });

  test('keeps no key, only its SHA-256', () => {
    const workspace = parseWorkspace(aWorkspace());
    expect(Buffer.from(workspace.apiKeys[0]!.hash).toString('hex')).toBe(
      createHash('sha256').update(CLIENT_KEY).digest('hex'),
    );
    expect(JSON.stringify(workspace)).not.toContain(CLIENT_KEY);
  });

  test('takes a key by its SHA-256', () => {
    const key_sha256 = createHash('sha256').update('k').digest('hex').toUpperCase();
    const { apiKeys } = parseWorkspace(
      aWorkspace({ api_keys: [{ type: 'client', key_sha256, permissions: [] }] }),
    );
    expect(Buffer.from(apiKeys[0]!.hash).toString('hex')).toBe(key_sha256.toLowerCase());
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['an unknown member', { colour: 'red' }, 'colour: unknown member'],
    ['an ID that is no text', { workspace_id: 5 }, 'workspace_id: expected string, got 5'],
    ['an empty ID', { workspace_id: '' }, 'workspace_id: expected it not to be empty, got ""'],
    [
      'an ID that no database can hold',
      { workspace_id: 'a\u0000b' },
      'workspace_id: expected text without U+0000 and half characters',
    ],
    ['no apps', { apps: undefined }, 'apps: expected array, got nothing'],
    ['an app without ID', { apps: [{}] }, 'apps[0].app_id: expected string, got nothing'],
    [
      'an app twice',
      { apps: [{ app_id: 'a' }, { app_id: 'a' }] },
      'apps[1].app_id: expected it once, got "a" again',
    ],
    [
      'a placement twice',
      { placements: [{ placement_id: 'p' }, { placement_id: 'p' }] },
      'placements[1].placement_id: expected it once, got "p" again',
    ],
    [
      'a subscription group twice, in another case',
      { subscription_groups: [{ subscription_group_id: 'news' }, { subscription_group_id: 'News' }] },
      'subscription_groups[1].subscription_group_id: expected it once, got "news" again',
    ],
    [
      'a placement that is not declared',
      { placements: [{ placement_id: 'p' }], campaigns: [aCampaign()] },
      `campaigns[0].placements[0]: expected a placement_id of 'placements', got "home"`,
    ],
    [
      'a key of no kind',
      { api_keys: [clientKey({ type: 'admin' })] },
      'api_keys[0].type: expected "client" or "server", got something else',
    ],
    [
      'no key',
      { api_keys: [clientKey({ key: undefined })] },
      "api_keys[0]: expected exactly one of 'key' and 'key_sha256'",
    ],
    [
      'a key and its hash',
      { api_keys: [clientKey({ key_sha256: 'a'.repeat(64) })] },
      "api_keys[0]: expected exactly one of 'key' and 'key_sha256'",
    ],
    [
      'a hash that is none',
      { api_keys: [clientKey({ key: null, key_sha256: 'my-secret' })] },
      'api_keys[0].key_sha256: expected 64 hexadecimal digits, got something else',
    ],
    [
      'a key that is no text',
      { api_keys: [clientKey({ key: 12345 })] },
      'api_keys[0].key: expected string, got something else',
    ],
    [
      'a client key that may do more',
      { api_keys: [clientKey({ permissions: ['banners.sync', 'users.track'] })] },
      'api_keys[0].permissions[1]: expected a permission of a client key (banners.sync, banners.track), got "users.track"',
    ],
    [
      'the same key twice',
      { api_keys: [clientKey({}), clientKey({})] },
      'api_keys[1]: expected another key than the ones before it',
    ],
    [
      'a limit that is half said',
      { limits: { banners_sync: { requests: 5 } } },
      "limits.banners_sync: expected either 'requests' and 'window_seconds', or 'windows'",
    ],
    [
      'a limit said twice',
      {
        limits: {
          users_track: { requests: 5, window_seconds: 1, windows: [{ requests: 1, window_seconds: 1 }] },
        },
      },
      "limits.users_track: expected either 'requests' and 'window_seconds', or 'windows'",
    ],
    [
      'a limit of nothing',
      { limits: { banners_sync: { requests: 0, window_seconds: 1 } } },
      'limits.banners_sync.requests: expected more than 0, got 0',
    ],
    [
      'two windows of one length',
      {
        limits: {
          banners_sync: {
            windows: [
              { requests: 10, window_seconds: 30 },
              { requests: 4, window_seconds: 30 },
            ],
          },
        },
      },
      'limits.banners_sync.windows[1].window_seconds: expected it once, got 30 again',
    ],
    ['a limit that is unknown', { limits: { banner_sync: {} } }, 'limits.banner_sync: unknown member'],
    [
      'objects where they do not belong',
      { limits: { banners_sync: { requests: 1, window_seconds: 1, objects: 'combined' } } },
      'limits.banners_sync.objects: unknown member',
    ],
  ])('is refused for %s', (_, members, problem) => {
    expect(problemsOf(members)).toContain(problem);
  });

  test('tells a permission that does not exist', () => {
    const [problem] = problemsOf({ api_keys: [clientKey({ permissions: ['banners.all'] })] });
    expect(problem).toMatch(
      /^api_keys\[0\]\.permissions\[0\]: expected "banners\.sync" or .*, got "banners\.all"$/,
    );
  });

  test.each(['', 'my client key', '"quoted"', 'ключ', 'line\n', 'k'.repeat(1_018)])(
    'is refused for the key %j, which no request can carry',
    (key) => {
      expect(problemsOf({ api_keys: [clientKey({ key })] })).toEqual([
        'api_keys[0].key: expected 1 to 1017 characters that a header can carry, without spaces or a quote in front, got something else',
      ]);
    },
  );

  test('takes every key that a request can carry', () => {
    for (const key of ['k', 'it\'s"fine"', 'schlüssel', 'k'.repeat(1_017)]) {
      expect(problemsOf({ api_keys: [clientKey({ key })] })).toEqual([]);
    }
  });

  test.each<[string, Record<string, unknown>]>([
    ['api_keys[0]', { api_keys: ['my-secret'] }],
    ['api_keys', { api_keys: 'my-secret' }],
    ['api_keys[0].type', { api_keys: [clientKey({ type: 'my-secret' })] }],
    ['api_keys[0].permissions', { api_keys: [clientKey({ permissions: 'my-secret' })] }],
    ['api_keys[0].permissions[0]', { api_keys: [clientKey({ permissions: ['my-secret'] })] }],
    ['operators[0].key_sha256', { operators: [{ name: 'Mia', role: 'edit', key_sha256: 'op_Zk3x-Q9' }] }],
    ['apps', { apps: 'placard_server_h1Zq0vXWJx2rT8cB5mN7pL4k' }],
    ['blocked_external_ids', { blocked_external_ids: 'kim@example.org' }],
    ['blocked_external_ids[0]', { blocked_external_ids: [48123456789] }],
    ['campaigns[0].test_users', { campaigns: [aCampaign({ test_users: 'kim@example.org' })] }],
  ])('quotes no key and no person at %s', (path, members) => {
    const [problem] = problemsOf(members);
    expect(problem).toContain(`${path}: expected `);
    expect(problem).toMatch(/, got something else$/);
  });

  test('tells every problem at once, and of which file', () => {
    expect(() => parseWorkspace({ workspace_id: 1, apps: 2, api_keys: 3 }, 'demo.json')).toThrow(
      'demo.json: workspace_id: expected string, got 1; apps: expected array, got 2; api_keys: expected array, got something else',
    );
  });

  test.each([null, [], 'text', 5])('is refused where it is %j', (content) => {
    expect(() => parseWorkspace(content)).toThrow('the file: expected object');
  });
});

describe('a campaign of the file', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['no variants', { variants: [] }, 'campaigns[0].variants: expected it not to be empty, got an array'],
    [
      'an unknown status',
      { status: 'paused' },
      'campaigns[0].status: expected "active" or "draft" or "stopped", got "paused"',
    ],
    [
      'an unknown priority',
      { priority: 1 },
      'campaigns[0].priority: expected "high" or "medium" or "low", got 1',
    ],
    [
      'a control group of more than all',
      { control_percentage: 101 },
      'campaigns[0].control_percentage: expected at most 100, got 101',
    ],
    [
      'a date without its offset',
      { starts_at: '2026-03-01T09:00:00' },
      'campaigns[0].starts_at: expected a date and time with its offset, such as 2026-03-01T00:00:00Z, got "2026-03-01T09:00:00"',
    ],
    [
      'an end before its start',
      { starts_at: '2026-03-02T00:00:00Z', ends_at: '2026-03-01T00:00:00Z' },
      "campaigns[0].ends_at: expected an instant after 'starts_at'",
    ],
    [
      'a variant twice',
      { variants: [aVariant(), aVariant()] },
      'campaigns[0].variants[1].variant_id: expected it once, got "a" again',
    ],
    [
      'no weight at all',
      { variants: [aVariant({ weight: 0 })] },
      'campaigns[0].variants: expected a weight above 0',
    ],
    ['an audience that evaluates code', { audience: { $where: '1' } }, ''],
  ])('is refused for %s', (_, members, problem) => {
    const problems = inCampaign(members);
    if (problem) expect(problems).toContain(problem);
    else expect(problems[0]).toMatch(/^campaigns\[0\]\.audience\.\$where: expected one of /);
  });

  test('without variants has that one problem', () => {
    expect(inCampaign({ variants: [] })).toHaveLength(1);
  });

  test('is refused where its ID is there twice', () => {
    expect(problemsOf({ campaigns: [aCampaign(), aCampaign()] })).toEqual([
      'campaigns[1].campaign_id: expected it once, got "c1" again',
    ]);
  });

  test.each<[unknown, string | RegExp]>([
    [{ type: 'string', value: 5 }, 'campaigns[0].variants[0].properties.p.value: expected string, got 5'],
    [
      { type: 'text', value: 'x' },
      /^campaigns\[0\]\.variants\[0\]\.properties\.p\.type: expected one of "string".*, got "text"$/,
    ],
    [
      { type: 'number', value: 'x' },
      'campaigns[0].variants[0].properties.p.value: expected a number or a Liquid template, got "x"',
    ],
    [
      { type: 'boolean', value: 1 },
      'campaigns[0].variants[0].properties.p.value: expected a boolean or a Liquid template, got 1',
    ],
    [
      { type: 'jsonobject', value: [] },
      'campaigns[0].variants[0].properties.p.value: expected object, got an array',
    ],
    [
      { type: 'datetime', value: 'soon' },
      /properties\.p\.value: expected Unix milliseconds or an ISO 8601 date/,
    ],
    [{ type: 'string', value: 'x', note: 1 }, 'campaigns[0].variants[0].properties.p.note: unknown member'],
    [
      { type: 'string', value: '{{ x' },
      /properties\.p\.value: expected a Liquid template, got one that fails/,
    ],
    ['x', 'campaigns[0].variants[0].properties.p: expected object, got "x"'],
  ])('is refused for the property %j', (property, problem) => {
    const [first] = inProperty(property);
    if (typeof problem === 'string') expect(first).toBe(problem);
    else expect(first).toMatch(problem);
  });

  test.each([
    { type: 'string', value: '' },
    { type: 'number', value: 1.5 },
    { type: 'number', value: '{{ 1 }}' },
    { type: 'boolean', value: true },
    { type: 'image', value: '/images/a.png' },
    { type: 'jsonobject', value: { deep: [null] } },
    { type: 'datetime', value: 1790208000000 },
    { type: 'datetime', value: '2026-03-01T09:00:00+01:00' },
  ])('takes the property %j', (property) => {
    expect(inProperty(property)).toEqual([]);
  });

  test('may name any placement where the file declares none', () => {
    expect(inCampaign({ placements: ['anything'] })).toEqual([]);
  });
});

describe('the limits of the file', () => {
  const rulesOf = (members: Record<string, unknown>) =>
    parseWorkspace(aWorkspace(members)).limits.users_track;

  test('are the published base rates where nothing is said', () => {
    const { limits } = parseWorkspace(aWorkspace());
    expect(limits.users_track.map(({ rule }) => rule)).toEqual([{ requests: 3_000, windowSeconds: 3 }]);
    expect(limits.users_track_bulk[0]?.rule).toEqual({ requests: 50, windowSeconds: 1 });
    expect(limits.cdi_integrations[0]?.rule).toEqual({ requests: 50, windowSeconds: 60 });
  });

  test('of the banner endpoints are those of each user where nothing is said, and none of the workspace', () => {
    const { limits, userLimits } = parseWorkspace(aWorkspace());
    expect([limits.banners_sync, limits.banners_track]).toEqual([[], []]);
    const rule = { requests: 60, windowSeconds: 60 };
    expect(userLimits).toEqual({ banners_sync: rule, banners_track: rule });
  });

  test('of the banner endpoints may be of the workspace, of a user or of both', () => {
    const perUser = { per_user: { requests: 5, window_seconds: 1 } };
    const all = { requests: 100, window_seconds: 1 };
    const { limits, userLimits } = parseWorkspace(
      aWorkspace({ limits: { banners_sync: perUser, banners_track: { ...all, ...perUser } } }),
    );
    expect(limits.banners_sync).toEqual([]);
    expect(limits.banners_track.map(({ rule }) => rule)).toEqual([{ requests: 100, windowSeconds: 1 }]);
    expect(Object.values(userLimits)).toEqual([
      { requests: 5, windowSeconds: 1 },
      { requests: 5, windowSeconds: 1 },
    ]);
  });

  test.each([
    [
      { banners_sync: { requests: 300, window_seconds: 60 } },
      /^limits\.banners_sync: 300 requests in 60 seconds are for all users/,
    ],
    [
      { banners_track: { per_user: { requests: 5, window_seconds: 60 } } },
      /^limits\.banners_track\.per_user: 5 requests in 60 seconds refuse/,
    ],
  ])('that are too low to be meant are warned of: %j', (limits, warning) => {
    expect(parseWorkspace(aWorkspace({ limits })).warnings).toEqual([expect.stringMatching(warning)]);
  });

  test('that are high enough are not warned of', () => {
    const limits = {
      users_track: { requests: 1, window_seconds: 60 },
      banners_sync: { requests: 20, window_seconds: 1, per_user: { requests: 10, window_seconds: 60 } },
    };
    expect(parseWorkspace(aWorkspace({ limits })).warnings).toEqual([]);
  });

  test('are one window or several, the longest first', () => {
    expect(
      rulesOf({ limits: { users_track: { requests: 7, window_seconds: 2 } } }).map(({ rule }) => rule),
    ).toEqual([{ requests: 7, windowSeconds: 2 }]);
    const windows = [
      { requests: 10, window_seconds: 3 },
      { requests: 1_000, window_seconds: 3_600 },
    ];
    expect(rulesOf({ limits: { users_track: { windows } } }).map(({ rule }) => rule.windowSeconds)).toEqual([
      3_600, 3,
    ]);
  });

  test('may say only how objects are counted', () => {
    const workspace = parseWorkspace(aWorkspace({ limits: { users_track: { objects: 'per_array' } } }));
    expect(workspace.trackObjects).toBe('per_array');
    expect(workspace.limits.users_track[0]?.rule.requests).toBe(3_000);
  });

  test('never have a key in common with another endpoint, window or workspace, the burst of a company aside', () => {
    const keysOf = (members: Record<string, unknown>) =>
      Object.values(parseWorkspace(aWorkspace(members)).limits).flatMap((limits) =>
        limits.map(({ key }) => key),
      );
    const windows = [
      { requests: 1, window_seconds: 3 },
      { requests: 2, window_seconds: 60 },
    ];
    const limits = { users_track: { windows }, banners_sync: { windows } };
    const all = [
      ...keysOf({ workspace_id: 'a', limits }),
      ...keysOf({ workspace_id: 'b', limits, company_id: 'c' }),
      ...keysOf({ workspace_id: 'd', limits, company_id: 'c' }),
    ];
    expect(all.length - new Set(all).size).toBe(1);
  });
});

describe('the apps of the file', () => {
  test('are known by ID, with their platform', () => {
    const { appPlatforms } = parseWorkspace(aWorkspace());
    expect(appPlatforms.get(APP_ID)).toBe('web');
  });
});
