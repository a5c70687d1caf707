// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { PLACEMENTS_PATH, PREVIEW_PARAMETER, PREVIEW_PATH, TRACK_PATH } from '../../../src/protocol/index.ts';
import { APP_ID, aCampaign, aVariant, CLIENT_KEY } from '../../helpers/a-workspace.ts';
import { keptOpen } from '../../helpers/running-service.ts';
import { aStudioWorkspace, type RunningStudio, runStudio } from '../../helpers/running-studio.ts';

const text = (value: string) => ({ headline: { type: 'string', value } });
const SPRING = aCampaign({ campaign_id: 'spring', name: 'Spring', priority: 'low' });
const GOLD = aCampaign({
  campaign_id: 'gold',
  name: 'Gold',
  placements: ['home'],
  priority: 'high',
  audience: { tier: 'gold' },
  control_percentage: 50,
  variants: [aVariant({ properties: text("Hi {{${first_name} | default: 'you'}}") })],
});

let studio: RunningStudio;
let ed: string;
let ada: string;
beforeEach(async () => {
  studio = await runStudio(aStudioWorkspace({ campaigns: [{ ...SPRING, placements: ['home'] }, GOLD] }));
  ed = await studio.signIn('Ed');
  ada = await studio.signIn('Ada');
});
afterEach(() => studio.stop());

describe('explain', () => {
  const outcomes = async (person: unknown, cookie = ed) => {
    const { body } = await studio.call('POST', '/api/explain', { body: { person }, cookie });
    return body.placements.home.map(({ campaign_id, outcome }: Record<string, string>) => [
      campaign_id,
      outcome,
    ]);
  };

  test('lists every campaign in order, for a new user and for a persona, who is never held out', async () => {
    expect(await outcomes({})).toEqual([
      ['gold', 'not_in_audience'],
      ['spring', 'shown'],
    ]);
    expect(await outcomes({ persona: 'Gold' })).toEqual([
      ['gold', 'shown'],
      ['spring', 'outranked'],
    ]);
  });

  test('returns the decision that a sync makes for a user', async () => {
    await studio.track({
      attributes: ['u1', 'u2', 'u3', 'u4'].map((external_id) => ({ external_id, tier: 'gold' })),
    });
    for (const user of ['u1', 'u2', 'u3', 'u4']) {
      const shown = (await studio.headlines(user))['home'];
      const [[, outcome]] = await outcomes({ user }, ada);
      expect(outcome).toBe(shown === null ? 'held_out' : 'shown');
    }
  });

  test('names the shown variant', async () => {
    const named = {
      ...SPRING,
      placements: ['home'],
      variants: [aVariant({ variant_id: 'b', name: 'Bold' })],
    };
    const other = await runStudio(aStudioWorkspace({ campaigns: [named] }));
    onTestFinished(() => other.stop());
    const cookie = await other.signIn('Ada');
    const body = { person: { user: 'u1' } };
    expect((await other.call('POST', '/api/explain', { body, cookie })).body).toMatchObject({
      placements: { home: [{ outcome: 'shown', variant_id: 'b' }] },
      variantNames: { spring: 'Bold' },
    });
  });

  test('shows user data only to operators who may view users, and logs the operator', async () => {
    const { status } = await studio.call('POST', '/api/explain', {
      body: { person: { user: 'u1' } },
      cookie: ed,
    });
    expect(status).toBe(403);
    await outcomes({ user: 'u1' }, ada);
    const entries = await studio.store.studio.audit('test', { limit: 9 });
    const looks = entries.filter(({ action }) => action === 'user.view');
    expect(looks).toMatchObject([{ operator: 'Ada', subject: 'u1' }]);
  });

  test('explains as many placements as fit in a response, and lists the omitted ones', async () => {
    const placements = Array.from({ length: 60 }, (_, at) => `p${at}`);
    const audience = { crm: { $in: Array.from({ length: 3_000 }, (_, at) => at) } };
    const many = await runStudio(
      aStudioWorkspace({
        placements: placements.map((placement_id) => ({ placement_id })),
        campaigns: Array.from({ length: 30 }, (_, at) =>
          aCampaign({ campaign_id: `c${at}`, placements, audience }),
        ),
      }),
    );
    try {
      const cookie = await many.signIn('Vera');
      const ask = (body: unknown) => many.call('POST', '/api/explain', { body, cookie });
      const { body } = await ask({ person: {} });
      expect(Object.keys(body.placements)).toEqual(placements.slice(0, 33));
      expect(body.left).toEqual(placements.slice(33));
      const [first] = body.placements.p0;
      expect(first.clauses[0]).toEqual({
        clause: 'audience.crm',
        expected: { $in: Array.from({ length: 20 }, (_, at) => at) },
        actual: null,
      });
      const rest = await ask({ person: {}, placements: body.left });
      expect([Object.keys(rest.body.placements), rest.body.left]).toEqual([placements.slice(33), []]);
    } finally {
      await many.stop();
    }
  });

  test('rejects a persona that the file does not define', async () => {
    const { status } = await studio.call('POST', '/api/explain', {
      body: { person: { persona: 'Mr X' } },
      cookie: ed,
    });
    expect(status).toBe(404);
  });
});

describe('selector misses', () => {
  const BY_SELECTOR = { placement_id: 'home', name: 'Home', template: 'strip', selector: 'main > h1' };
  const edit = (spot: object) => studio.edit(aStudioWorkspace({ placements: [{ ...BY_SELECTOR, ...spot }] }));
  const report = (missing: string[]) => studio.fromPage(PLACEMENTS_PATH, { missing });
  const spots = async () =>
    (await studio.call('POST', '/api/explain', { body: { person: {} }, cookie: ed })).body.spots;
  const checks = async () => {
    const campaign = { ...SPRING, placements: ['home'] };
    const { body } = await studio.call('POST', '/api/validation', { body: { campaign }, cookie: ed });
    return body.checks.map(({ message }: { message: string }) => message).join(' ');
  };

  test('counts the reports of pages about a selector without a match, until none arrives for a day', async () => {
    edit({ paths: ['/products/*'] });
    const place = { selector: 'main > h1', insert: 'after', paths: ['/products/*'] };
    await report([]);
    expect(await spots()).toEqual({ home: { ...place, missing: null } });
    expect(await checks()).not.toContain('no place');

    const since = new Date(studio.clock.now).toISOString();
    await report(['home', 'made-up']);
    studio.clock.now += 30 * 60_000;
    await report(['home']);
    const last = new Date(studio.clock.now).toISOString();
    expect(await spots()).toEqual({ home: { ...place, missing: { reports: 2, since, last } } });
    expect(await checks()).toContain('selector of “Home” matches nothing');

    studio.clock.now += 24 * 60 * 60_000;
    ed = await studio.signIn('Ed');
    expect((await spots()).home.missing).toBeNull();
    await report(['home']);
    expect((await spots()).home.missing).toMatchObject({ reports: 1 });
  });

  test('counts misses from zero once the file has another selector', async () => {
    edit({});
    await report(['home']);
    expect((await spots()).home.missing).toMatchObject({ reports: 1 });
    edit({ selector: 'h1' });
    expect((await spots()).home).toMatchObject({ selector: 'h1', missing: null });
  });

  test('ignores a placement that pages mount themselves', async () => {
    await report(['home']);
    expect(await spots()).toEqual({});
  });
});

describe('preview', () => {
  const preview = (person: unknown, campaign: unknown = GOLD, cookie = ed) =>
    studio.call('POST', '/api/preview', { body: { campaign, variant_id: 'a', person }, cookie });

  test('renders the draft for the user, and reports whether they are in the audience', async () => {
    expect((await preview({ persona: 'Gold' })).body).toEqual({
      properties: text('Hi Jo'),
      inAudience: true,
      language: null,
    });
    expect((await preview({})).body).toEqual({
      properties: text('Hi you'),
      inAudience: false,
      language: null,
    });
  });

  test('returns null for a draft that cannot be rendered', async () => {
    const broken = { ...GOLD, variants: [aVariant({ properties: text('{{ ${x') })] };
    expect((await preview({}, broken)).body).toMatchObject({ properties: null, inAudience: false });
    expect((await preview({}, {})).body).toMatchObject({ properties: null, inAudience: false });
  });

  test('reads user data only for operators who may view users', async () => {
    await studio.track({ attributes: [{ external_id: 'u1', first_name: 'Kim' }] });
    expect((await preview({ user: 'u1' })).status).toBe(403);
    expect((await preview({ user: 'u1' }, GOLD, ada)).body.properties).toEqual(text('Hi Kim'));
  });
});

describe('render limit', () => {
  const loop =
    '{% for a in custom_attribute.${list} %}{% for b in custom_attribute.${list} %}x{% endfor %}{% endfor %}';
  const wild = {
    ...GOLD,
    audience: null,
    control_percentage: 0,
    variants: [aVariant({ properties: text(`Hi${loop}`) })],
  };

  test('hides a campaign for the user, and for all after ten users, and the list reports it until it changes', async () => {
    studio.edit(
      aStudioWorkspace({
        campaigns: [
          { ...SPRING, placements: ['home'], variants: [aVariant({ properties: text('Spring') })] },
          wild,
        ],
      }),
    );
    const list = Array.from({ length: 500 }, (_, index) => `entry ${index}`);
    const odd = Array.from({ length: 10 }, (_, index) => `odd-${index}`);
    const attributes = odd.map((external_id) => ({ external_id, list }));
    await studio.track({ attributes: [{ external_id: 'u1' }, ...attributes] });
    const shown = async (user: string) => (await studio.headlines(user, ['home']))['home'];
    const halted = async () => (await studio.call('GET', '/api/campaigns/gold', { cookie: ed })).body.halted;
    expect([await shown('u1'), await halted()]).toEqual(['Hi', null]);
    for (let times = 0; times < 20; times += 1) expect(await shown('odd-0')).toBe('Spring');
    expect(await shown('u1')).toBe('Hi');
    expect(await halted()).toBe('Not shown to 1 user: Headline takes too long to render with their profile.');
    // The profile changes, so the template is rendered again.
    studio.clock.now += 1_000;
    await studio.track({ attributes: [{ external_id: 'odd-0', list: ['a'] }] });
    expect(await shown('odd-0')).toBe('Hix');

    for (const user of odd.slice(1, 9)) expect(await shown(user)).toBe('Spring');
    expect(await shown('u1')).toBe('Hi');
    expect(studio.lines).not.toContainEqual(expect.objectContaining({ level: 'error' }));
    expect(await shown('odd-9')).toBe('Spring');
    expect(await shown('u1')).toBe('Spring');
    expect(await halted()).toBe(
      'Not shown: Headline takes too long to render. Use fewer or shorter loops, and publish again.',
    );
    expect(JSON.stringify(studio.lines).match(/campaign halted/g)).toHaveLength(1);
    const { body } = await studio.call('POST', '/api/explain', { body: { person: {} }, cookie: ed });
    expect(body.placements.home[0]).toMatchObject({ outcome: 'render_failed', property: 'headline' });
    // A release of another campaign does not change it.
    await studio.store.studio.addRelease({
      workspaceId: 'test',
      kind: 'campaign',
      subjectId: 'other',
      content: { ...SPRING, campaign_id: 'other', placements: ['side'] },
      basedOn: 0,
      author: 'Pia',
      note: '',
      createdAtMs: 0,
      liveAtMs: 0,
    });
    await studio.workspaces.refresh();
    expect([await shown('u1'), await halted()]).toEqual(['Spring', expect.stringContaining('Not shown')]);
    studio.edit(
      aStudioWorkspace({ campaigns: [{ ...wild, variants: [aVariant({ properties: text('Hello') })] }] }),
    );
    expect([await shown('u1'), await halted()]).toEqual(['Hello', null]);
  });
});

describe('invalid releases', () => {
  test('hides a release that a newer version rejects, shows the others, and reports its error in the list, checks and restore', async () => {
    const bad = {
      ...SPRING,
      campaign_id: 'bad',
      name: 'Bad',
      placements: ['home'],
      variants: [aVariant({ properties: text('Bad'), on_click: { attributes: { dob: 'soon' } } })],
    };
    const release = { workspaceId: 'test', author: 'Pia', note: '', createdAtMs: 0, liveAtMs: 0 };
    const good = {
      ...SPRING,
      campaign_id: 'good',
      placements: ['side'],
      variants: [aVariant({ properties: text('Good') })],
    };
    for (const campaign of [bad, good]) {
      await studio.store.studio.addRelease({
        ...release,
        kind: 'campaign',
        subjectId: campaign.campaign_id,
        content: campaign,
        basedOn: 0,
      });
    }
    // As if a service found these releases at startup.
    const store = keptOpen(studio.store);
    const newer = await runStudio(aStudioWorkspace({ campaigns: [] }), { store });
    onTestFinished(() => newer.stop());
    expect(await newer.headlines('u1')).toEqual({ home: null, side: 'Good' });
    const fault = 'Invalid value "soon" for dob. Enter a value of its type.';
    const log = newer.lines.filter(({ message }) => message === 'release not shown');
    expect(log).toMatchObject([
      { campaign: 'bad', problem: expect.stringContaining('on_click.attributes.dob') },
    ]);
    const cookie = await newer.signIn('Pia');
    const { campaigns } = (await newer.call('GET', '/api/campaigns', { cookie })).body;
    const halted = campaigns.map((each: { id: string; halted: string | null }) => [each.id, each.halted]);
    expect(Object.fromEntries(halted)).toEqual({
      bad: `Not shown: the release is invalid. ${fault} Fix it and publish again.`,
      good: null,
    });
    const { checks } = (await newer.call('POST', '/api/validation', { body: { campaign: bad }, cookie }))
      .body;
    expect(checks[0]).toMatchObject({ severity: 'error', message: fault });
    expect(checks[0].path.slice(0, 4)).toEqual(['variants', 0, 'on_click', 'attributes']);
    const history = await newer.call('GET', '/api/releases?campaign=bad', { cookie });
    expect(history.body.releases).toHaveLength(1);
    const back = await newer.call('POST', '/api/releases/1/restore', {
      body: { note: '', based_on: 1 },
      cookie,
    });
    expect([back.status, back.body.message]).toEqual([422, `Cannot publish: ${fault}`]);
    // It can be stopped as it is, and is then removed from the list.
    const stopped = await newer.call('POST', '/api/campaigns/bad/stop', {
      body: { note: '', based_on: 1 },
      cookie,
    });
    expect(stopped.status).toBe(201);
  });
});

describe('preview link', () => {
  const draft = async (campaign: Record<string, unknown> = GOLD) => {
    const before = await studio.store.studio.draft('test', 'gold');
    const { body } = await studio.call('PUT', '/api/drafts/gold', {
      body: { campaign, based_on: 0 },
      cookie: ed,
      ...(before && { ifMatch: before.revision }),
    });
    return body.revision as string;
  };
  const link = (revision: string, more: Record<string, unknown> = {}) =>
    studio.call('POST', '/api/preview-links', {
      body: {
        campaign_id: 'gold',
        revision,
        variant_id: 'a',
        persona: 'Gold',
        page: 'https://shop.example/cart?x=1#top',
        ...more,
      },
      cookie: ed,
    });
  const getToken = (url: string) => new URLSearchParams(new URL(url).hash.slice(1)).get(PREVIEW_PARAMETER)!;

  test('shows the draft on the site, as the persona, as a test send that is never counted', async () => {
    const { status, body } = await link(await draft());
    expect(status).toBe(201);
    expect(body.url).toMatch(/^https:\/\/shop\.example\/cart\?x=1#top&placard_preview=[\w.-]+$/);
    const shown = await studio.fromPage(PREVIEW_PATH, { token: getToken(body.url) });
    expect(shown.body).toMatchObject({
      campaign_name: 'Gold',
      banners: {
        home: { placement_id: 'home', is_test_send: true, is_control: false, properties: text('Hi Jo') },
      },
    });
    await studio.fromPage(TRACK_PATH, {
      external_user_id: 'u1',
      app_id: APP_ID,
      app_version: '1',
      events: [
        { id: shown.body.banners.home.id, event_type: 'impression', timestamp: '2026-03-02T09:00:00Z' },
      ],
    });
    const results = await studio.call('GET', '/api/results/gold', { cookie: ed });
    expect(results.body.headline).toEqual({ sentence: 'No impressions yet.', details: [] });
  });

  test('shows a published campaign without a draft, and is not created for an unpublished one', async () => {
    const revision = await draft();
    const missing = await studio.call('POST', '/api/preview-links', {
      body: {
        campaign_id: 'nope',
        revision: null,
        variant_id: 'a',
        persona: null,
        page: 'https://shop.example/',
      },
      cookie: ed,
    });
    expect(missing).toMatchObject({ status: 404, body: { message: 'Campaign not published' } });
    const [published] = studio.workspaces.registry().workspaces[0]!.campaigns;
    const { body } = await link(revision, {
      campaign_id: published!.campaignId,
      revision: null,
      variant_id: published!.variants[0]!.variantId,
    });
    const shown = await studio.fromPage(PREVIEW_PATH, { token: getToken(body.url) });
    expect(shown).toMatchObject({ status: 200, body: { campaign_name: published!.name } });
  });

  test.each([
    ['', '#placard_preview='],
    ['#/cart', '#/cart?placard_preview='],
    ['#/cart?x=1', '#/cart?x=1&placard_preview='],
  ])(
    'has its token in the fragment, which is not sent to servers or in the Referer: %j',
    async (hash, start) => {
      const { body } = await link(await draft(), { page: `https://shop.example/${hash}` });
      const { search, hash: made } = new URL(body.url);
      expect(search).toBe('');
      expect(made.startsWith(start)).toBe(true);
    },
  );

  test('uses the language of the editor, not of the persona', async () => {
    const variant = {
      ...aVariant({ properties: text('Hello') }),
      translations: { de: { headline: 'Hallo' } },
    };
    const revision = await draft({ ...GOLD, language: 'en', variants: [variant] });
    const shown = async (language: string | null) => {
      const { body } = await link(revision, { language });
      const { body: answer } = await studio.fromPage(PREVIEW_PATH, { token: getToken(body.url) });
      return answer.banners.home.properties.headline.value;
    };
    expect([await shown('de'), await shown(null)]).toEqual(['Hallo', 'Hello']);
  });

  test('expires after half an hour', async () => {
    const { body } = await link(await draft());
    studio.clock.now += 30 * 60_000 + 1_000;
    const { status, body: answer } = await studio.fromPage(PREVIEW_PATH, { token: getToken(body.url) });
    expect([status, answer.message]).toEqual([401, 'The preview link has expired']);
  });

  test('expires when the draft has a new revision', async () => {
    const { body } = await link(await draft());
    await draft({ ...GOLD, name: 'Changed' });
    expect((await studio.fromPage(PREVIEW_PATH, { token: getToken(body.url) })).status).toBe(404);
  });

  test('links only the current draft, and only to sites of the file', async () => {
    const revision = await draft();
    expect((await link('another')).status).toBe(412);
    for (const page of [
      'https://evil.example/',
      'https://shop.example.evil.example/',
      'http://shop.example/',
    ]) {
      expect((await link(revision, { page })).status, page).toBe(403);
    }
    for (const page of ['', '/cart', 'shop.example'])
      expect((await link(revision, { page })).status, page).toBe(400);
    expect((await link(revision, { page: 'javascript:alert(1)//https://shop.example' })).status).toBe(403);
  });

  test('allows sixty views a minute per link', async () => {
    const revision = await draft();
    const token = getToken((await link(revision)).body.url);
    const look = (each: string) => studio.fromPage(PREVIEW_PATH, { token: each });
    for (let times = 0; times < 60; times += 1) expect((await look(token)).status).toBe(200);
    const { status, headers, body } = await look(token);
    expect([status, body.message]).toEqual([429, expect.stringContaining('60 requests a minute')]);
    expect(headers.get('x-ratelimit-retry-after')).toBe('60');
    studio.clock.now += 1_000;
    expect((await look(getToken((await link(revision)).body.url))).status).toBe(200);
    studio.clock.now += 60_000;
    expect((await look(token)).status).toBe(200);
  });

  test('rejects a draft that would expand into an unbounded response', async () => {
    const placements = Array.from({ length: 500 }, (_, index) => `p${index}`);
    const revision = await draft({
      ...GOLD,
      placements,
      variants: [aVariant({ properties: text('x'.repeat(3_000)) })],
    });
    const { status } = await studio.fromPage(PREVIEW_PATH, {
      token: getToken((await link(revision)).body.url),
    });
    expect(status).toBe(422);
  });

  test.each(['', 'x', 'a.b.c', 'eyJhbGciOiJub25lIn0.eyJwcmV2aWV3Ijp7fX0.'])(
    'rejects the token %j',
    async (token) => {
      expect((await studio.fromPage(PREVIEW_PATH, { token })).status).toBe(401);
    },
  );

  test('rejects a token of another workspace', async () => {
    const { body } = await link(await draft());
    const other = await runStudio(aStudioWorkspace({ workspace_id: 'other' }));
    const response = await other.service.fetch(
      new Request(`http://localhost${PREVIEW_PATH}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${CLIENT_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ token: getToken(body.url) }),
      }),
    );
    expect(response.status).toBe(401);
    await other.stop();
  });
});

describe('reach estimate', () => {
  test('counts users of the workspace, and rejects an invalid campaign', async () => {
    const attributes = ['gold', 'gold', 'silver'].map((tier, index) => ({ external_id: `u-${index}`, tier }));
    await studio.track({ attributes });
    const answer = await studio.call('POST', '/api/reach', { body: { campaign: GOLD }, cookie: ada });
    expect(answer).toMatchObject({
      status: 200,
      body: { users: 2, atLeast: 2, atMost: 2, total: 3, fewerThan: null },
    });
    const refused = await studio.call('POST', '/api/reach', { body: { campaign: {} }, cookie: ed });
    expect(refused).toMatchObject({ status: 422, body: { message: expect.stringContaining('campaign_id') } });
  });

  const reach = (audience: unknown, cookie = ed) =>
    studio.call('POST', '/api/reach', {
      body: { campaign: { ...GOLD, control_percentage: 0, audience } },
      cookie,
    });
  const addUsers = () =>
    studio.track({
      attributes: Array.from({ length: 47 }, (_, index) => ({
        external_id: `u-${index}`,
        email: `u-${index}@example.org`,
        tier: index < 3 ? 'gold' : 'silver',
      })),
    });

  test.each([
    [{ external_id: 'u-1', tier: 'gold' }, 'u-1', 'external_id'],
    [{ $or: [{ email: 'u-1@example.org' }, { tier: 'silver' }] }, '', 'email'],
    [{ $nor: [{ 'user_aliases.alias_name': 'x' }] }, '', 'user_aliases'],
    [{ $and: [{ tier: 'gold' }, { phone: { $exists: true } }] }, '', 'phone'],
    [{ $not: { external_id: 'u-1' } }, 'u-1', 'external_id'],
    [{ $and: [{ $not: { $or: [{ email: 'x', tier: 'gold', braze_id: '1' }] } }] }, '', 'email, braze_id'],
  ])(
    'requires permission to view users for an audience that identifies a user, and logs it: %j',
    async (audience, subject, members) => {
      await addUsers();
      expect(await reach(audience)).toMatchObject({
        status: 403,
        body: { message: 'Counting users by an ID or an address needs "can_view_users"' },
      });
      expect((await reach(audience, ada)).status).toBe(200);
      const looks = async () =>
        (await studio.store.studio.audit('test', { limit: 9 })).filter(
          ({ action }) => action === 'user.view',
        );
      expect(await looks()).toMatchObject([
        { operator: 'Ada', subject, details: `counted users by ${members}` },
      ]);
      // No data of an erased user remains in it.
      await studio.erase('u-1');
      expect(JSON.stringify(await looks())).not.toContain('u-1');
    },
  );

  test('rounds to tens, and hides fewer than twenty users, for operators who may not view users', async () => {
    await addUsers();
    const few = { users: 0, atLeast: 0, atMost: 0, total: 47, shown: 0, fewerThan: 20 };
    expect((await reach({ tier: 'gold' })).body).toEqual(few);
    expect((await reach({ tier: 'iron' })).body).toEqual(few);
    expect((await reach({ tier: 'silver' })).body).toMatchObject({
      users: 40,
      atLeast: 40,
      atMost: 40,
      total: 47,
    });
    expect((await reach({ tier: 'silver' }, ada)).body).toMatchObject({ users: 44, fewerThan: null });
  });

  test('reports a count of almost all users as all, so that exclusion identifies no user', async () => {
    const attributes = Array.from({ length: 50 }, (_, index) => ({ external_id: `u-${index}`, crm: index }));
    await studio.track({ attributes });
    const all = (await reach(null)).body;
    expect(all).toMatchObject({ users: 50, total: 50 });
    expect((await reach({ $nor: [{ crm: 7 }] })).body).toEqual(all);
    expect((await reach({ crm: { $gt: 18 } })).body).toEqual(all);
    expect((await reach({ crm: { $gt: 19 } })).body).toMatchObject({ users: 30, total: 50 });
    expect((await reach({ $nor: [{ crm: 7 }] }, ada)).body).toMatchObject({ users: 49 });
  });

  test('runs one estimate per operator, the newest request, and returns 409 to the others', async () => {
    await addUsers();
    const mine = Array.from({ length: 20 }, () => reach(null));
    const [theirs, ...answers] = await Promise.all([reach(null, ada), ...mine]);
    expect(theirs!.status).toBe(200);
    expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 19 }, () => 409), 200]);
    expect((await reach(null)).status).toBe(200);
  });
});

describe('suggestions', () => {
  test('lists names that users have, with values only if many users have them', async () => {
    await studio.track({
      attributes: [
        ...Array.from({ length: 20 }, (_, i) => ({
          external_id: `g${i}`,
          tier: 'gold',
          first_name: `Kim${i}`,
        })),
        { external_id: 's', tier: 'silver', zip: '10115' },
      ],
      events: [{ external_id: 's', name: 'quiz_done', time: '2026-03-01T08:00:00Z' }],
      purchases: [
        { external_id: 's', product_id: 'teapot', currency: 'EUR', price: 1, time: '2026-03-01T08:00:00Z' },
      ],
    });
    const names = async (cookie: string) => (await studio.call('GET', '/api/suggestions', { cookie })).body;
    expect(await names(ed)).toEqual({
      fields: expect.arrayContaining(['external_id', 'app_version']),
      attributes: [
        { name: 'tier', values: ['gold'] },
        { name: 'first_name', values: [] },
        { name: 'zip', values: [] },
      ],
      events: ['quiz_done'],
      products: ['teapot'],
    });
    const { attributes } = await names(ada);
    expect(attributes).toContainEqual({ name: 'tier', values: ['gold', 'silver'] });
    // As typed: without quotation marks it would be a number.
    expect(attributes).toContainEqual({ name: 'zip', values: ['"10115"'] });
  });
});

describe('results', () => {
  const sync = async (user: string) =>
    (
      await studio.fromPage('/v1/device-messaging/banners/sync', {
        external_user_id: user,
        app_id: APP_ID,
        app_version: '1',
        placements: ['home'],
      })
    ).body.banners.home;
  const act = (user: string, id: string, event_type: string, timestamp: string, button_id?: string) =>
    studio.fromPage(TRACK_PATH, {
      external_user_id: user,
      app_id: APP_ID,
      app_version: '1',
      events: [{ id, event_type, timestamp, button_id }],
    });

  test('counts each user once, by variant and control group, with goals after the first impression', async () => {
    const goal = { ...GOLD, conversions: [{ product: 'teapot', within_hours: 24 }] };
    studio.edit(aStudioWorkspace({ campaigns: [goal] }));
    const users = Array.from({ length: 12 }, (_, i) => `u${i}`);
    await studio.track({ attributes: users.map((external_id) => ({ external_id, tier: 'gold' })) });
    let [seen, held] = [0, 0];
    for (const user of users) {
      const banner = await sync(user);
      if (banner.is_control) held += 1;
      else seen += 1;
      await act(user, banner.id, 'impression', '2026-03-02T08:00:00Z');
      await act(user, banner.id, 'impression', '2026-03-02T08:30:00Z');
      if (!banner.is_control) {
        await act(user, banner.id, 'click', '2026-03-02T08:31:00Z', 'details');
        await act(user, banner.id, 'click', '2026-03-02T08:32:00Z');
      }
    }
    const buy = (external_id: string, time: string) => ({
      external_id,
      time,
      product_id: 'teapot',
      currency: 'EUR',
      price: 20,
      quantity: 2,
    });
    studio.clock.now += 3 * 24 * 60 * 60 * 1000;
    ed = await studio.signIn('Ed');
    await studio.track({
      purchases: [
        ...users.map((user) => buy(user, '2026-03-02T08:45:00Z')),
        buy('u0', '2026-03-02T07:00:00Z'),
        buy('u1', '2026-03-03T09:00:00Z'),
      ],
    });
    const { body } = await studio.call('GET', '/api/results/gold', { cookie: ed });
    const goals = (people: number) => [
      { converted: people, revenue: 40 * people, revenueSumOfSquares: 1_600 * people },
    ];
    expect(body.arms).toMatchObject([
      {
        variantId: 'a',
        exposed: seen,
        impressions: 2 * seen,
        clicked: seen,
        clicks: 2 * seen,
        goals: goals(seen),
      },
      { variantId: null, name: 'Control', exposed: held, clicked: 0, goals: goals(held) },
    ]);
    expect(seen * held).toBeGreaterThan(0);
    expect(body.days).toContainEqual(
      expect.objectContaining({ day: '2026-03-02', variantId: 'a', exposed: seen, clicked: seen }),
    );
    expect(body.currencies).toEqual(['EUR']);
    expect(body.buttons).toEqual([{ buttonId: 'details', variantId: 'a', clicks: seen, clicked: seen }]);
    expect(body.placements).toMatchObject([
      { placementId: 'home', variantId: 'a', exposed: seen },
      { placementId: 'home', variantId: null, exposed: held },
    ]);
    const csv = await studio.call('GET', '/api/results/gold/csv', { cookie: ed });
    expect(csv.body.split('\r\n')[1]).toBe(
      `gold,a,${seen},${2 * seen},${2 * seen},${seen},0,0,${seen},${40 * seen},${seen}`,
    );
    expect(csv.body.split('\r\n')[0]).toMatch(
      /^\uFEFF?campaign,variant,users,impressions,clicks,users_clicked,dismissals,users_dismissed,users: Bought “teapot”,revenue EUR: Bought “teapot”,clicks: details$/,
    );
    await studio.track({ purchases: [{ ...buy('u0', '2026-03-02T09:00:00Z'), currency: 'PLN' }] });
    // Revenue in two currencies has no sum.
    const mixed = await studio.call('GET', '/api/results/gold/csv', { cookie: ed });
    expect(mixed.body).toContain(
      `revenue: Bought “teapot”,clicks: details\r\ngold,a,${seen},${2 * seen},${2 * seen},${seen},0,0,${seen},,${seen}\r\n`,
    );
  });

  test('lists changes during the run, except changes that no user sees', async () => {
    let basedOn = 0;
    const publish = async (members: Record<string, unknown>) => {
      const pia = await studio.signIn('Pia');
      const campaign = aCampaign({
        campaign_id: 'sale',
        name: 'Sale',
        priority: 'high',
        placements: ['home'],
        ...members,
      });
      const { body } = await studio.call('PUT', '/api/drafts/sale', {
        body: { campaign, based_on: basedOn },
        cookie: pia,
      });
      const released = await studio.call('POST', '/api/releases', {
        body: { campaign_id: 'sale', revision: body.revision, note: '' },
        cookie: pia,
      });
      basedOn = released.body.release;
    };
    await publish({ audience: { tier: 'gold' } });
    studio.clock.now += 86_400_000;
    await publish({});
    studio.clock.now += 86_400_000;
    ed = await studio.signIn('Ed');
    const banner = await sync('u1');
    await act('u1', banner.id, 'impression', new Date(studio.clock.now).toISOString());
    studio.clock.now += 86_400_000;
    const edits = async () => (await studio.call('GET', '/api/results/sale', { cookie: ed })).body.edits;
    ed = await studio.signIn('Ed');
    expect(await edits()).toEqual([]);
    await publish({ name: 'Sale again', test_users: ['t1'] });
    expect(await edits()).toEqual([]);
    const [variant] = aCampaign().variants as Record<string, unknown>[];
    await publish({
      variants: [{ ...variant, properties: text('Twenty per cent') }],
      control_percentage: 10,
    });
    expect(await edits()).toEqual([
      { release: 4, day: '2026-03-05', author: 'Pia', what: ['Control group', 'a · Headline'] },
    ]);
  });

  test('returns the same counts as the campaign list', async () => {
    studio.edit(aStudioWorkspace({ campaigns: [{ ...GOLD, control_percentage: 0 }] }));
    const look = async (user: string) => {
      await studio.track({ attributes: [{ external_id: user, tier: 'gold' }] });
      const { id } = await sync(user);
      await act(user, id, 'impression', '2026-03-02T08:00:00Z');
      if (user === 'n0') await act(user, id, 'click', '2026-03-02T08:01:00Z');
    };
    const numbers = async () =>
      (await studio.call('GET', '/api/campaign-stats', { cookie: ed })).body.numbers;
    await look('n0');
    await look('n1');
    expect(await numbers()).toEqual({ gold: { users: 2, clicked: 1 } });
  });

  test('returns 404 for an unknown campaign', async () => {
    expect((await studio.call('GET', '/api/results/nothing', { cookie: ed })).status).toBe(404);
  });
});

describe('publication preview', () => {
  const NONE = { names: [], count: 0 };

  test('lists for each placement the campaigns that it overrides and those that rank above it', async () => {
    const middle = aCampaign({ campaign_id: 'new', placements: ['home', 'side'], priority: 'medium' });
    const { body } = await studio.call('POST', '/api/publish-impact', {
      body: { campaign: middle },
      cookie: ed,
    });
    expect(body.placements).toEqual([
      {
        id: 'home',
        name: 'Home',
        outranks: { names: ['Spring'], count: 1 },
        outrankedBy: { names: ['Gold'], count: 1 },
      },
      { id: 'side', name: 'side', outranks: NONE, outrankedBy: NONE },
    ]);
  });
});
