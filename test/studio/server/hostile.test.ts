import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createStudioRoutes } from '../../../src/studio/server/routes/routes.ts';
import { aCampaign } from '../../helpers/a-workspace.ts';
import { ORIGIN, type RunningStudio, runStudio } from '../../helpers/running-studio.ts';

let studio: RunningStudio;
const cookies = new Map<string, string>();
beforeAll(async () => {
  studio = await runStudio();
  for (const name of ['Vera', 'Ed', 'Pia', 'Ada']) cookies.set(name, await studio.signIn(name));
});
afterAll(() => studio.stop());

const ROUTES = createStudioRoutes().map(({ method, path, role }) => ({
  method,
  path: path.replaceAll(/\{\w+\}/g, '1'),
  role,
}));
const BELOW: Record<string, string[]> = {
  view: [],
  edit: ['Vera'],
  publish: ['Vera', 'Ed'],
  admin: ['Vera', 'Ed', 'Pia'],
};

describe.each(ROUTES)('$method $path', ({ method, path, role }) => {
  const body = method === 'GET' ? undefined : {};

  test('returns 401 without a session', async () => {
    expect((await studio.call(method, path, { body })).status).toBe(401);
  });

  test('returns 403 for a lower role', async () => {
    for (const name of BELOW[role]!) {
      const { status, body: answer } = await studio.call(method, path, { body, cookie: cookies.get(name) });
      expect(status, name).toBe(403);
      expect(answer.message).toContain(`Requires role "${role}"`);
    }
  });

  test('sends no CORS headers to a page of another origin', async () => {
    const { headers } = await studio.call(method, path, {
      body,
      headers: { origin: 'https://evil.example' },
    });
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  });

  if (method === 'GET') return;
  test('rejects a request of another origin without side effects, even with a session', async () => {
    const foreign = [
      { origin: 'https://evil.example' },
      { origin: null },
      { origin: 'null' },
      { origin: `${ORIGIN}.evil.example` },
      { origin: 'http://127.0.0.1:8787' },
      { origin: ORIGIN, 'sec-fetch-site': 'same-site' },
      { origin: ORIGIN, 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of foreign) {
      const answer = await studio.call(method, path, { body, headers, cookie: cookies.get('Ada') });
      expect(answer.status, JSON.stringify(headers)).toBe(403);
    }
  });
});

describe('the Studio', () => {
  const ada = () => cookies.get('Ada');

  test('rejects a sign-in from another origin', async () => {
    const headers = { origin: 'https://evil.example' };
    expect((await studio.call('POST', '/api/session', { body: { key: 'Ada-key' }, headers })).status).toBe(
      403,
    );
  });

  test('rejects an unknown host name, because a page could rebind it to the Studio', async () => {
    const headers = { host: 'rebound.example:8788', origin: 'http://rebound.example:8788' };
    expect((await studio.call('POST', '/api/session', { body: { key: 'Ada-key' }, headers })).status).toBe(
      421,
    );
    expect((await studio.call('GET', '/api/session', { cookie: ada(), headers })).status).toBe(421);
  });

  test('accepts only JSON, because a form cannot send it', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', null]) {
      const answer = await studio.call('POST', '/api/validation', {
        body: '{"campaign":{}}',
        cookie: ada(),
        headers: { 'content-type': type },
      });
      expect(answer.status, String(type)).toBe(415);
    }
  });

  test.each(['{', 'nonsense', '\u0000'])('returns a 400 that does not quote the body %j', async (body) => {
    const { status, body: answer } = await studio.call('POST', '/api/validation', { body, cookie: ada() });
    expect(status).toBe(400);
    expect(JSON.stringify(answer)).not.toContain('nonsense');
  });

  test.each(['/api/', '/api/nothing', '/api/drafts/a/b', '/api/drafts/%'])(
    'returns 404 at %s',
    async (path) => expect((await studio.call('GET', path, { cookie: ada() })).status).toBe(404),
  );

  test('returns 405 at a known path for a wrong method', async () => {
    expect((await studio.call('PUT', '/api/campaigns', { cookie: ada() })).status).toBe(405);
  });

  const HOSTILE = [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "'; DROP TABLE releases; --",
    'javascript:alert(1)',
    '{{ constructor.constructor("alert(1)")() }}',
    '=HYPERLINK("http://evil.example")',
    '\u202egnp.exe',
    '__proto__',
    'x'.repeat(5_000),
  ];
  test.each(HOSTILE)('keeps %j literally in every field, and returns JSON', async (text) => {
    const campaign = aCampaign({
      campaign_id: 'hostile',
      name: text,
      placements: ['home'],
      test_users: [text],
      variants: [
        {
          variant_id: 'a',
          name: text,
          properties: {
            headline: { type: 'string', value: 'ok' },
            [`x ${text}`]: { type: 'string', value: text },
          },
        },
      ],
    });
    const before = await studio.store.studio.draft('test', 'hostile');
    const saved = await studio.call('PUT', '/api/drafts/hostile', {
      body: { campaign, based_on: 0 },
      cookie: ada(),
      ...(before && { ifMatch: before.revision }),
    });
    expect(saved.status).toBe(200);
    const { body, headers } = await studio.call('GET', '/api/campaigns/hostile', { cookie: ada() });
    expect(body.draft.campaign).toEqual(campaign);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect((await studio.store.studio.drafts('test')).length).toBeGreaterThan(0);
  });

  test('does not write CSV cells that a spreadsheet would execute', async () => {
    const before = await studio.store.studio.draft('test', 'hostile');
    const campaign = aCampaign({
      campaign_id: 'hostile',
      placements: ['home'],
      variants: [
        { variant_id: 'a', name: '=1+1', properties: {} },
        { variant_id: 'b', name: '@x "q", y', properties: {} },
        { variant_id: 'c', name: '＝1+1', properties: {} },
        { variant_id: 'd', name: ' ＋1', properties: {} },
      ],
    });
    await studio.call('PUT', '/api/drafts/hostile', {
      body: { campaign, based_on: 0 },
      cookie: ada(),
      ifMatch: before!.revision,
    });
    const { body, headers } = await studio.call('GET', '/api/results/hostile/csv', { cookie: ada() });
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(body.split('\r\n').slice(1, 5)).toEqual([
      "hostile,'=1+1,0,0,0,0,0,0",
      `hostile,"'@x ""q"", y",0,0,0,0,0,0`,
      "hostile,'＝1+1,0,0,0,0,0,0",
      "hostile,'＋1,0,0,0,0,0,0",
    ]);
  });
});

test('limits the values of a body by the cost of their errors, and reports the limit', async () => {
  const check = (placements: unknown[]) =>
    studio.call('POST', '/api/validation', {
      cookie: cookies.get('Vera'),
      body: { campaign: aCampaign({ placements }) },
    });
  expect(await check(Array.from({ length: 30_000 }, () => 1))).toMatchObject({
    status: 400,
    body: { message: 'Request body holds more than 8000 values' },
  });
  const { status, body } = await check(Array.from({ length: 1_001 }, (_, at) => `p${at}`));
  expect([status, body.checks[0]]).toMatchObject([
    200,
    { severity: 'error', path: ['placements'], message: 'Expected at most 1000, got an array.' },
  ]);
});

test('limits the size of all drafts to that of the list of campaigns, and reports the limit', async () => {
  const text = 'x'.repeat(60_000);
  const save = (id: string, body: string) =>
    studio.call('PUT', `/api/drafts/${id}`, {
      cookie: cookies.get('Ed'),
      headers: { 'content-type': 'application/json' },
      body: { campaign: aCampaign({ campaign_id: id, name: body }), based_on: 0 },
    });
  const statuses: number[] = [];
  for (let at = 0; at < 36; at += 1) statuses.push((await save(`large-${at}`, text)).status);
  expect(statuses.indexOf(413)).toBeGreaterThan(30);
  const refused = await save('one-more', text);
  expect(refused).toMatchObject({
    status: 413,
    body: { message: 'Draft limit (2 MB) reached. Publish or discard drafts' },
  });
  expect((await save('too-large', 'x'.repeat(66_000))).body.message).toBe(
    'Request too large: the limit is 64 KB',
  );
  const list = await studio.call('GET', '/api/campaigns', { cookie: cookies.get('Vera') });
  expect(JSON.stringify(list.body).length).toBeLessThan(3_000_000);
});
