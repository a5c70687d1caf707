import { type CostlyRequest, list } from './request.ts';

const variant = (at: number) => ({
  variant_id: `v${at}`,
  weight: 10,
  properties: Object.fromEntries(
    list(20, (name) => [
      `p${name}`,
      { type: 'string', value: '{{ "a" | append: "b" | upcase }} '.repeat(2) },
    ]),
  ),
});

const campaign = {
  campaign_id: 'costly',
  status: 'active',
  placements: ['home'],
  variants: list(8, variant),
};
const plain = { ...campaign, variants: [{ variant_id: 'a', properties: {} }] };
/** A draft with 400 variants, one of them in `count` languages. */
const inLanguages = (count: number) => ({
  ...plain,
  language: 'en',
  variants: list(400, (at) => ({
    variant_id: at.toString(36),
    properties: { headline: { type: 'string', value: 'a' } },
    ...(at === 0 && {
      translations: Object.fromEntries(list(count, (n) => [`de-x-${n.toString(36)}`, {}])),
    }),
  })),
});
const nobody = { external_id: '-' };

export const ofOperators = (): CostlyRequest[] => {
  const view = { sender: 'view', aimMs: 50 } as const;
  const edit = { sender: 'edit', aimMs: null } as const;
  const publish = { sender: 'publish', aimMs: null } as const;
  const admin = { sender: 'admin', aimMs: null } as const;
  const checks = (what: string, content: unknown): CostlyRequest => ({
    ...view,
    what: `/api/validation, ${what}`,
    path: '/api/validation',
    body: { campaign: content },
  });
  const reach = (what: string, audience: unknown): CostlyRequest => ({
    ...view,
    what: `/api/reach, ${what}`,
    path: '/api/reach',
    body: { campaign: { ...plain, audience } },
  });
  const get = (what: string, path: string): CostlyRequest => ({ ...view, what, path, method: 'GET' });
  return [
    get('/api/session, of 1,000 placements', '/api/session'),
    get('/api/campaigns, with 2 MB of drafts', '/api/campaigns'),
    get('/api/campaigns/{id}', '/api/campaigns/c1'),
    get('/api/campaign-stats', '/api/campaign-stats'),
    get('/api/results/{id}, 8 variants, 4 goals, 400 days', '/api/results/results'),
    get('/api/results/{id}/csv', '/api/results/results/csv'),
    get('/api/releases, 25 of 60 KB', '/api/releases'),
    get('/api/suggestions', '/api/suggestions'),
    get('/api/segments, of 50', '/api/segments'),
    get('/api/integrations, of 500', '/api/integrations'),
    get('/api/integrations/{id}, 100 rejects of 100 KB', '/api/integrations/i-0'),
    checks('a name of 60,000 letters', {
      ...plain,
      variants: [
        { variant_id: 'a', properties: { h: { type: 'string', value: `{{${'a'.repeat(60_000)}}}` } } },
      ],
    }),
    checks('160 templates', campaign),
    checks('as many Liquid variables as render', {
      ...plain,
      variants: [{ variant_id: 'a', properties: { h: { type: 'string', value: '{{a}}'.repeat(2_500) } } }],
    }),
    checks('placements that are numbers', { ...plain, placements: list(7_900, () => 1) }),
    checks('unknown members', {
      ...plain,
      ...Object.fromEntries(list(7_000, (at) => [at.toString(36), 1])),
    }),
    checks('unknown placements', { ...plain, placements: list(1_000, (at) => at.toString(36)) }),
    checks('empty variants', {
      ...plain,
      variants: list(1_700, (at) => ({ variant_id: at.toString(36), properties: {} })),
    }),
    checks('equal variants', {
      ...plain,
      variants: list(1_700, () => ({ variant_id: 'a', properties: {} })),
    }),
    checks('variants that are none', { ...plain, variants: list(7_900, () => 1) }),
    checks('an audience of unknown operators', {
      ...plain,
      audience: { $or: list(490, () => ({ $a: 1 })) },
    }),
    checks('an audience of patterns', {
      ...plain,
      audience: { $or: list(300, () => ({ a: { $regex: '^(a?|b)x*x*x' } })) },
    }),
    checks('test users', { ...plain, test_users: list(7_500, (at) => at.toString(36)) }),
    checks('more languages than it may have', inLanguages(1_500)),
    checks('maximum number of languages', inLanguages(100)),
    {
      ...view,
      what: '/api/translations/export, as many languages as it may have',
      path: '/api/translations/export',
      body: {
        campaign: {
          campaign_id: 'c',
          language: 'en',
          variants: list(400, (at) => ({
            variant_id: at.toString(36),
            properties: { headline: { type: 'string', value: 'a' } },
            ...(at === 0 && {
              translations: Object.fromEntries(list(100, (n) => [`de-x-${n.toString(36)}`, {}])),
            }),
          })),
        },
        format: 'csv',
        language: 'en',
      },
    },
    {
      ...edit,
      what: '/api/translations/import, rows of a CSV',
      path: '/api/translations/import',
      body: {
        campaign: {
          campaign_id: 'c',
          language: 'en',
          variants: [{ variant_id: 'a', properties: { headline: { type: 'string', value: 'a' } } }],
        },
        text: `variant,property,de\n${'a,headline,b\n'.repeat(4_500)}`,
      },
    },
    {
      ...edit,
      what: '/api/translations/import, tags of XLIFF',
      path: '/api/translations/import',
      body: {
        campaign: { campaign_id: 'c', language: 'en', variants: [] },
        text: '<xliff '.repeat(8_500),
      },
    },
    {
      ...view,
      what: '/api/preview',
      path: '/api/preview',
      body: { campaign, variant_id: 'v0', person: { persona: 'Gold' } },
    },
    {
      ...view,
      what: '/api/publish-impact, unknown placements',
      path: '/api/publish-impact',
      body: { campaign: { ...plain, placements: list(1_000, (at) => at.toString(36)) } },
    },
    {
      ...view,
      what: '/api/publish-impact, every placement',
      path: '/api/publish-impact',
      body: { campaign: { ...plain, placements: list(1_000, (at) => `home_hero_${at}`) } },
    },
    {
      ...view,
      what: '/api/explain, every placement',
      path: '/api/explain',
      body: { person: {} },
    },
    reach('50 conditions', { $or: list(50, (at) => ({ [`custom.a${at}`]: at })) }),
    reach('maximum number of conditions', { $or: list(490, (at) => ({ [`a${at}`]: { $ne: nobody } })) }),
    reach('maximum number of comparisons', { $nor: list(330, () => ({ n: { $gt: 'x' } })) }),
    reach('maximum number of patterns', {
      $nor: list(330, (at) => ({ text: { $regex: `^x*x*y${at}` } })),
    }),
    reach('a list of 5,000 numbers', { a1: { $nin: list(5_000, (at) => at + 100_000) } }),
    reach('maximum number of versions', { $nor: list(330, () => ({ text: { $vlt: '1' } })) }),
    {
      ...edit,
      what: 'PUT /api/drafts/{id}, the largest draft',
      method: 'PUT',
      path: (n) => `/api/drafts/saved-${n}`,
      getBody: (n) => ({
        campaign: {
          ...campaign,
          campaign_id: `saved-${n}`,
          test_users: list(2_500, (at) => at.toString(36)),
        },
        based_on: 0,
      }),
    },
    {
      ...edit,
      what: 'PUT /api/drafts/{id}, invalid draft',
      method: 'PUT',
      path: '/api/drafts/costly',
      body: { campaign: { ...plain, placements: list(7_900, () => 1) }, based_on: 0 },
    },
    {
      ...edit,
      what: 'DELETE /api/drafts/{id}',
      method: 'DELETE',
      path: (n) => `/api/drafts/deleted-${n}`,
      ifMatch: '"r"',
    },
    {
      ...edit,
      what: '/api/preview-links',
      path: '/api/preview-links',
      body: {
        campaign_id: 'placements',
        revision: 'r',
        variant_id: 'a',
        persona: null,
        page: 'https://shop.example/',
      },
    },
    {
      ...publish,
      what: '/api/releases',
      path: '/api/releases',
      getBody: (n) => ({ campaign_id: `published-${n}`, revision: 'r', note: 'x'.repeat(2_000) }),
    },
    {
      ...publish,
      what: '/api/releases/{n}/restore',
      path: '/api/releases/1/restore',
      getBody: (n) => ({ note: '', based_on: n }),
    },
    {
      ...publish,
      what: '/api/campaigns/{id}/stop',
      path: (n) => `/api/campaigns/c${n + 1}/stop`,
      body: { note: '', based_on: 0 },
    },
    {
      ...publish,
      what: '/api/campaigns/{id}/archive',
      path: (n) => `/api/campaigns/c${n + 50}/archive`,
      body: { note: '', based_on: 0 },
    },
    {
      ...publish,
      what: 'PUT /api/segments/{id}',
      method: 'PUT',
      path: (n) => `/api/segments/made-${n}`,
      body: { name: 'A', audience: { $or: list(490, (at) => ({ [`a${at}`]: at })) }, note: '', based_on: 0 },
    },
    { ...publish, what: '/api/integrations/{id}/sync', path: (n) => `/api/integrations/i-${n + 50}/sync` },
    { ...admin, what: '/api/access', path: '/api/access', method: 'GET' },
    { ...admin, what: '/api/audit', path: '/api/audit?as=csv', method: 'GET' },
  ];
};

export const ofNobody = (): CostlyRequest[] => {
  const nobody = { sender: 'nobody', aimMs: 50, method: 'GET' } as const;
  return [
    { ...nobody, what: '/metrics', path: '/metrics' },
    { ...nobody, what: '/readyz', path: '/readyz' },
    { ...nobody, what: '/openapi.json', path: '/openapi.json' },
    { ...nobody, what: '/docs', path: '/docs' },
    {
      ...nobody,
      method: 'POST',
      what: '/api/session with a wrong key',
      path: '/api/session',
      getBody: (n) => ({ key: `op_${n}${'x'.repeat(60_000)}` }),
    },
  ];
};
