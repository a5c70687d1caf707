import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { WorkspaceError } from '../../../src/service/index.ts';
import type { LocatedIssue } from '../../../src/service/issues.ts';
import { pathText } from '../../../src/service/workspace/issues.ts';
import { parseWorkspace } from '../../../src/service/workspace/parse-workspace.ts';
import { APP_ID, aCampaign, aVariant, aWorkspace, CLIENT_KEY } from '../../helpers/a-workspace.ts';

const getError = (members: Record<string, unknown>): WorkspaceError | null => {
  try {
    parseWorkspace(aWorkspace(members), 'demo.json');
    return null;
  } catch (error) {
    if (error instanceof WorkspaceError) return error;
    throw error;
  }
};
type PathAndCode = [path: string, code: string];
const toPathAndCode = ({ path, code }: LocatedIssue): PathAndCode => [pathText(path), code];
const findIssues = (members: Record<string, unknown>): PathAndCode[] =>
  (getError(members)?.issues ?? []).map(toPathAndCode);
const inCampaign = (members: Record<string, unknown>) => findIssues({ campaigns: [aCampaign(members)] });
const inVariant = (members: Record<string, unknown>) => inCampaign({ variants: [aVariant(members)] });
const inProperty = (property: unknown) => inVariant({ properties: { p: property } });
const clientKey = (members: Record<string, unknown>) => ({
  type: 'client',
  key: 'k',
  permissions: [],
  ...members,
});

describe('a workspace file', () => {
  test('requires only an ID, apps and keys', () => {
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

  test('treats null as an absent member', () => {
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
    expect(inVariant({ weight: null, cache_ttl_seconds: null, name: null })).toEqual([]);
    expect(findIssues({ limits: { users_track: null, banners_sync: null } })).toEqual([]);
  });

  test('stores only the SHA-256 of a key', () => {
    const workspace = parseWorkspace(aWorkspace());
    expect(Buffer.from(workspace.apiKeys[0]!.hash).toString('hex')).toBe(
      createHash('sha256').update(CLIENT_KEY).digest('hex'),
    );
    expect(JSON.stringify(workspace)).not.toContain(CLIENT_KEY);
  });

  test('accepts a key by its SHA-256', () => {
    const key_sha256 = createHash('sha256').update('k').digest('hex').toUpperCase();
    const { apiKeys } = parseWorkspace(
      aWorkspace({ api_keys: [{ type: 'client', key_sha256, permissions: [] }] }),
    );
    expect(Buffer.from(apiKeys[0]!.hash).toString('hex')).toBe(key_sha256.toLowerCase());
  });

  test.each<[string, Record<string, unknown>, PathAndCode]>([
    ['an unknown member', { colour: 'red' }, ['colour', 'unknown_field']],
    ['an ID that is not a string', { workspace_id: 5 }, ['workspace_id', 'invalid_type']],
    ['an empty ID', { workspace_id: '' }, ['workspace_id', 'empty']],
    ['an ID that no database can hold', { workspace_id: 'a\u0000b' }, ['workspace_id', 'invalid']],
    ['no apps', { apps: undefined }, ['apps', 'invalid_type']],
    ['an app without ID', { apps: [{}] }, ['apps[0].app_id', 'invalid_type']],
    ['a duplicate app', { apps: [{ app_id: 'a' }, { app_id: 'a' }] }, ['apps[1].app_id', 'repeated']],
    [
      'a duplicate placement',
      { placements: [{ placement_id: 'p' }, { placement_id: 'p' }] },
      ['placements[1].placement_id', 'repeated'],
    ],
    [
      'a duplicate subscription group, in another case',
      { subscription_groups: [{ subscription_group_id: 'news' }, { subscription_group_id: 'News' }] },
      ['subscription_groups[1].subscription_group_id', 'repeated'],
    ],
    [
      'an undeclared placement',
      { placements: [{ placement_id: 'p' }], campaigns: [aCampaign()] },
      ['campaigns[0].placements[0]', 'unknown_placement'],
    ],
    [
      'a key of an unknown type',
      { api_keys: [clientKey({ type: 'admin' })] },
      ['api_keys[0].type', 'invalid_value'],
    ],
    ['no key', { api_keys: [clientKey({ key: undefined })] }, ['api_keys[0]', 'invalid']],
    [
      'a key and its hash',
      { api_keys: [clientKey({ key_sha256: 'a'.repeat(64) })] },
      ['api_keys[0]', 'invalid'],
    ],
    [
      'an invalid hash',
      { api_keys: [clientKey({ key: null, key_sha256: 'my-secret' })] },
      ['api_keys[0].key_sha256', 'invalid_format'],
    ],
    [
      'a key that is not a string',
      { api_keys: [clientKey({ key: 12345 })] },
      ['api_keys[0].key', 'invalid_type'],
    ],
    [
      'a client key with other permissions',
      { api_keys: [clientKey({ permissions: ['banners.sync', 'users.track'] })] },
      ['api_keys[0].permissions[1]', 'invalid'],
    ],
    ['a duplicate key', { api_keys: [clientKey({}), clientKey({})] }, ['api_keys[1]', 'duplicate_key']],
    [
      'an incomplete limit',
      { limits: { banners_sync: { requests: 5 } } },
      ['limits.banners_sync', 'invalid'],
    ],
    [
      'a duplicate limit',
      {
        limits: {
          users_track: { requests: 5, window_seconds: 1, windows: [{ requests: 1, window_seconds: 1 }] },
        },
      },
      ['limits.users_track', 'invalid'],
    ],
    [
      'a limit of zero',
      { limits: { banners_sync: { requests: 0, window_seconds: 1 } } },
      ['limits.banners_sync.requests', 'out_of_range'],
    ],
    [
      'two windows of the same length',
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
      ['limits.banners_sync.windows[1].window_seconds', 'invalid'],
    ],
    ['an unknown limit', { limits: { banner_sync: {} } }, ['limits.banner_sync', 'unknown_field']],
    [
      'objects of another endpoint',
      { limits: { banners_sync: { requests: 1, window_seconds: 1, objects: 'combined' } } },
      ['limits.banners_sync.objects', 'unknown_field'],
    ],
  ])('rejects %s', (_, members, issue) => {
    expect(findIssues(members)).toContainEqual(issue);
  });

  test('suggests the current name of a renamed field', () => {
    const [issue] = getError({ studio: { second_operator: true } })!.issues;
    expect(issue).toMatchObject({
      path: ['studio', 'second_operator'],
      code: 'renamed_field',
      facts: { name: 'require_approval' },
    });
  });

  test('reports an unknown permission by name', () => {
    const [issue] = getError({ api_keys: [clientKey({ permissions: ['banners.all'] })] })!.issues;
    expect(issue).toMatchObject({
      path: ['api_keys', 0, 'permissions', 0],
      code: 'invalid_value',
      facts: { allowed: expect.arrayContaining(['banners.sync']), got: '"banners.all"' },
    });
  });

  test.each(['', 'my client key', '"quoted"', 'ключ', 'line\n', 'k'.repeat(1_018)])(
    'rejects the key %j, which a header cannot contain',
    (key) => {
      expect(getError({ api_keys: [clientKey({ key })] })!.issues).toMatchObject([
        { path: ['api_keys', 0, 'key'], code: 'invalid_format', facts: { got: 'something else' } },
      ]);
    },
  );

  test('accepts every key that a header can contain', () => {
    for (const key of ['k', 'it\'s"fine"', 'schlüssel', 'k'.repeat(1_017)]) {
      expect(findIssues({ api_keys: [clientKey({ key })] })).toEqual([]);
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
  ])('does not quote keys or personal data at %s', (path, members) => {
    const [issue] = getError(members)!.issues;
    expect(pathText(issue!.path)).toBe(path);
    expect(issue!.message).toMatch(/, got something else$/);
  });

  test('reports all problems at once with their file', () => {
    expect(() => parseWorkspace({ workspace_id: 1, apps: 2, api_keys: 3 }, 'demo.json')).toThrow(
      'demo.json: workspace_id: expected string, got 1; apps: expected array, got 2; api_keys: expected array, got something else',
    );
  });

  test.each([null, [], 'text', 5])('is rejected if it is %j', (content) => {
    expect(() => parseWorkspace(content)).toThrow('the file: expected object');
  });
});

describe('a campaign of the file', () => {
  test.each<[string, Record<string, unknown>, PathAndCode]>([
    ['no variants', { variants: [] }, ['campaigns[0].variants', 'empty']],
    ['an unknown status', { status: 'paused' }, ['campaigns[0].status', 'invalid_value']],
    ['an unknown priority', { priority: 1 }, ['campaigns[0].priority', 'invalid_value']],
    [
      'a control group above 100%',
      { control_percentage: 101 },
      ['campaigns[0].control_percentage', 'out_of_range'],
    ],
    [
      'a date without an offset',
      { starts_at: '2026-03-01T09:00:00' },
      ['campaigns[0].starts_at', 'invalid_format'],
    ],
    [
      'an end before the start',
      { starts_at: '2026-03-02T00:00:00Z', ends_at: '2026-03-01T00:00:00Z' },
      ['campaigns[0].ends_at', 'ends_before_start'],
    ],
    [
      'a duplicate variant',
      { variants: [aVariant(), aVariant()] },
      ['campaigns[0].variants[1].variant_id', 'repeated'],
    ],
    ['no weight at all', { variants: [aVariant({ weight: 0 })] }, ['campaigns[0].variants', 'no_weight']],
    [
      'an audience that evaluates code',
      { audience: { $where: '1' } },
      ['campaigns[0].audience.$where', 'unknown_operator'],
    ],
  ])('rejects %s', (_, members, issue) => {
    expect(inCampaign(members)).toContainEqual(issue);
  });

  test('reports missing variants as the only problem', () => {
    expect(inCampaign({ variants: [] })).toHaveLength(1);
  });

  test('is rejected if its ID is a duplicate', () => {
    expect(findIssues({ campaigns: [aCampaign(), aCampaign()] })).toEqual([
      ['campaigns[1].campaign_id', 'repeated'],
    ]);
  });

  test.each<[unknown, PathAndCode]>([
    [{ type: 'string', value: 5 }, ['campaigns[0].variants[0].properties.p.value', 'invalid_type']],
    [{ type: 'text', value: 'x' }, ['campaigns[0].variants[0].properties.p.type', 'invalid_type']],
    [{ type: 'number', value: 'x' }, ['campaigns[0].variants[0].properties.p.value', 'invalid']],
    [{ type: 'boolean', value: 1 }, ['campaigns[0].variants[0].properties.p.value', 'invalid']],
    [{ type: 'jsonobject', value: [] }, ['campaigns[0].variants[0].properties.p.value', 'invalid_type']],
    [{ type: 'datetime', value: 'soon' }, ['campaigns[0].variants[0].properties.p.value', 'invalid']],
    [
      { type: 'string', value: 'x', note: 1 },
      ['campaigns[0].variants[0].properties.p.note', 'unknown_field'],
    ],
    [{ type: 'string', value: '{{ x' }, ['campaigns[0].variants[0].properties.p.value', 'invalid_template']],
    ['x', ['campaigns[0].variants[0].properties.p', 'invalid_type']],
  ])('rejects the property %j', (property, issue) => {
    expect(inProperty(property)[0]).toEqual(issue);
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
  ])('accepts the property %j', (property) => {
    expect(inProperty(property)).toEqual([]);
  });

  test('may use any placement if the file does not declare placements', () => {
    expect(inCampaign({ placements: ['anything'] })).toEqual([]);
  });
});

describe('the limits of the file', () => {
  const getRules = (members: Record<string, unknown>) =>
    parseWorkspace(aWorkspace(members)).limits.users_track;

  test('default to the published base rates', () => {
    const { limits } = parseWorkspace(aWorkspace());
    expect(limits.users_track.map(({ rule }) => rule)).toEqual([{ requests: 3_000, windowSeconds: 3 }]);
    expect(limits.users_track_bulk[0]?.rule).toEqual({ requests: 50, windowSeconds: 1 });
    expect(limits.cdi_integrations[0]?.rule).toEqual({ requests: 50, windowSeconds: 60 });
  });

  test('apply per user by default for banner endpoints, without a limit for the workspace', () => {
    const { limits, userLimits } = parseWorkspace(aWorkspace());
    expect([limits.banners_sync, limits.banners_track]).toEqual([[], []]);
    const rule = { requests: 60, windowSeconds: 60 };
    expect(userLimits).toEqual({ banners_sync: rule, banners_track: rule });
  });

  test('may apply to the workspace, to a user or to both for banner endpoints', () => {
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
    [{ banners_sync: { requests: 300, window_seconds: 60 } }, ['limits.banners_sync', 'low_workspace_limit']],
    [
      { banners_track: { per_user: { requests: 5, window_seconds: 60 } } },
      ['limits.banners_track.per_user', 'low_user_limit'],
    ],
  ])('cause a warning if they are very low: %j', (limits, warning) => {
    expect(parseWorkspace(aWorkspace({ limits })).warnings.map(toPathAndCode)).toEqual([warning]);
  });

  test('are written in the singular for one request', () => {
    const limits = { banners_sync: { requests: 1, window_seconds: 1 } };
    const [warning] = parseWorkspace(aWorkspace({ limits })).warnings;
    expect(warning!.message).toMatch(/^the limit of 1 request in 1 second counts all users/);
  });

  test('do not cause a warning if they are high enough', () => {
    const limits = {
      users_track: { requests: 1, window_seconds: 60 },
      banners_sync: { requests: 20, window_seconds: 1, per_user: { requests: 10, window_seconds: 60 } },
    };
    expect(parseWorkspace(aWorkspace({ limits })).warnings).toEqual([]);
  });

  test('have one or several windows, with the longest first', () => {
    expect(
      getRules({ limits: { users_track: { requests: 7, window_seconds: 2 } } }).map(({ rule }) => rule),
    ).toEqual([{ requests: 7, windowSeconds: 2 }]);
    const windows = [
      { requests: 10, window_seconds: 3 },
      { requests: 1_000, window_seconds: 3_600 },
    ];
    expect(getRules({ limits: { users_track: { windows } } }).map(({ rule }) => rule.windowSeconds)).toEqual([
      3_600, 3,
    ]);
  });

  test('may specify only the counting of objects', () => {
    const workspace = parseWorkspace(aWorkspace({ limits: { users_track: { objects: 'per_array' } } }));
    expect(workspace.trackObjects).toBe('per_array');
    expect(workspace.limits.users_track[0]?.rule.requests).toBe(3_000);
  });

  test('have separate counters per endpoint, window and workspace, except the burst limit of a company', () => {
    const getKeys = (members: Record<string, unknown>) =>
      Object.values(parseWorkspace(aWorkspace(members)).limits).flatMap((limits) =>
        limits.map(({ key }) => key),
      );
    const windows = [
      { requests: 1, window_seconds: 3 },
      { requests: 2, window_seconds: 60 },
    ];
    const limits = { users_track: { windows }, banners_sync: { windows } };
    const all = [
      ...getKeys({ workspace_id: 'a', limits }),
      ...getKeys({ workspace_id: 'b', limits, company_id: 'c' }),
      ...getKeys({ workspace_id: 'd', limits, company_id: 'c' }),
    ];
    expect(all.length - new Set(all).size).toBe(1);
  });
});

describe('the apps of the file', () => {
  test('have an ID and a platform', () => {
    const { appPlatforms } = parseWorkspace(aWorkspace());
    expect(appPlatforms.get(APP_ID)).toBe('web');
  });
});
