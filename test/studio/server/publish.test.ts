import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStore, type Store } from '../../../src/service/index.ts';
import { aCampaign, aVariant } from '../../helpers/a-workspace.ts';
import { keptOpen, STORES } from '../../helpers/running-service.ts';
import { aStudioWorkspace, type RunningStudio, runStudio } from '../../helpers/running-studio.ts';

const saying = (headline: string, members: Record<string, unknown> = {}) =>
  aCampaign({
    campaign_id: 'sale',
    name: 'Sale',
    variants: [aVariant({ properties: { headline: { type: 'string', value: headline } } })],
    ...members,
  });

/** Saves a draft over the current one and returns the response. */
const save = async (
  studio: RunningStudio,
  cookie: string,
  campaign: Record<string, unknown>,
  basedOn = 0,
) => {
  const id = campaign['campaign_id'] as string;
  const before = await studio.store.studio.draft('test', id);
  return studio.call('PUT', `/api/drafts/${id}`, {
    body: { campaign, based_on: basedOn },
    cookie,
    ...(before && { ifMatch: before.revision }),
  });
};

const publish = async (
  studio: RunningStudio,
  cookie: string,
  campaign: Record<string, unknown>,
  basedOn = 0,
  more = {},
) => {
  const { body } = await save(studio, cookie, campaign, basedOn);
  return studio.call('POST', '/api/releases', {
    body: { campaign_id: campaign['campaign_id'], revision: body.revision, note: 'because', ...more },
    cookie,
  });
};

describe.each(STORES)('publishing on $name', ({ address }) => {
  let store: Store;
  let studio: RunningStudio;
  let pia: string;
  beforeEach(async () => {
    store = await openStore(await address());
    studio = await runStudio(aStudioWorkspace(), { store: keptOpen(store) });
    pia = await studio.signIn('Pia');
  });
  afterEach(async () => {
    await studio.stop();
    await store.close();
  });

  test('ranks the most recently published campaign before its equals, and reports the effect before publication', async () => {
    const named = (id: string) => saying(id, { campaign_id: id, name: id });
    await publish(studio, pia, named('welcome'));
    studio.clock.now += 1_000;
    const { body } = await studio.call('POST', '/api/publish-impact', {
      body: { campaign: named('sale') },
      cookie: pia,
    });
    expect(body.placements[0]).toMatchObject({
      outranks: { names: ['welcome'], count: 1 },
      outrankedBy: { count: 0 },
    });
    await publish(studio, pia, named('sale'));
    expect(await studio.headlines('u1')).toMatchObject({ home: 'sale' });
    studio.clock.now += 1_000;
    await publish(studio, pia, named('welcome'), 1);
    expect(await studio.headlines('u1')).toMatchObject({ home: 'welcome' });
  });

  test.each([
    ['U+0000', '\0'],
    ['unpaired surrogate', '\ud83d'],
  ])('rejects a text with %s, which databases cannot store, and reports its field', async (_, bad) => {
    const { body } = await save(studio, pia, saying('Ten per cent off'));
    const sent = { campaign_id: 'sale', revision: body.revision, note: 'because' };
    for (const name of ['note', 'campaign_id', 'revision']) {
      const answer = await studio.call('POST', '/api/releases', {
        body: { ...sent, [name]: `a${bad}b` },
        cookie: pia,
      });
      expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(name)]);
    }
    expect((await save(studio, pia, saying(`Ten${bad}`), 1)).body.message).toContain(
      'properties.headline.value',
    );
  });

  test.each([
    ['GET', '/api/releases?campaign=%00', 'campaign'],
    ['GET', '/api/releases?campaign=%00&campaign=sale', 'campaign'],
    ['DELETE', '/api/drafts/a%00b', 'campaignId'],
  ] as const)('rejects U+0000 in the URL of %s %s', async (method, path, name) => {
    const answer = await studio.call(method, path, { cookie: pia, ifMatch: 'r' });
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringMatching(`: ${name}$`)]);
  });

  test('publishes to the next sync, and logs it in the history and audit log', async () => {
    expect(await studio.headlines('u1')).toEqual({ home: null, side: null });
    const { status, body } = await publish(studio, pia, saying('Ten per cent off'));
    expect([status, body.release]).toEqual([201, 1]);
    expect(await studio.headlines('u1')).toEqual({ home: 'Ten per cent off', side: null });
    const history = await studio.call('GET', '/api/releases?campaign=sale', { cookie: pia });
    expect(history.body.releases).toMatchObject([{ release: 1, author: 'Pia', note: 'because', basedOn: 0 }]);
    const { body: audit } = await studio.call('GET', '/api/audit', { cookie: await studio.signIn('Ada') });
    expect(audit.entries).toContainEqual(
      expect.objectContaining({
        operator: 'Pia',
        action: 'campaign.publish',
        subject: 'sale',
        subjectName: 'Sale',
      }),
    );
    expect((await studio.call('GET', '/api/campaigns/sale', { cookie: pia })).body.draft).toBeNull();
  });

  test('publishes to a replica at its next poll', async () => {
    const replica = await runStudio(aStudioWorkspace(), { store: keptOpen(store) });
    await publish(studio, pia, saying('New'));
    expect((await replica.headlines('u1'))['home']).toBeNull();
    await replica.workspaces.refresh();
    expect((await replica.headlines('u1'))['home']).toBe('New');
    await replica.stop();
  });

  test('publishes a scheduled release at its time', async () => {
    await publish(studio, pia, saying('Now'));
    const later = await publish(studio, pia, saying('On Tuesday'), 1, {
      live_at: '2026-03-03T10:00:00+01:00',
    });
    expect(later.body).toEqual({ release: 2, liveAt: '2026-03-03T09:00:00.000Z' });
    const { body } = await studio.call('GET', '/api/campaigns/sale', { cookie: pia });
    expect(body).toMatchObject({ newest: 2, scheduled: [{ release: 2 }], published: { release: 1 } });
    expect((await studio.headlines('u1'))['home']).toBe('Now');
    studio.clock.now = Date.parse('2026-03-03T09:00:00Z');
    await studio.workspaces.refresh();
    expect((await studio.headlines('u1'))['home']).toBe('On Tuesday');
  });

  const row = async () => (await studio.call('GET', '/api/campaigns/sale', { cookie: pia })).body;
  const TUESDAY = '2026-03-03T09:00:00.000Z';

  test('requires a choice for a scheduled release of the same campaign', async () => {
    await publish(studio, pia, saying('Now'));
    await publish(studio, pia, saying('On Tuesday'), 1, { live_at: TUESDAY });
    const unasked = await publish(studio, pia, saying('Fixed'), 2);
    expect([unasked.status, unasked.body.message]).toEqual([
      409,
      `Release 2 is scheduled for ${TUESDAY}: choose whether to keep or cancel it`,
    ]);
    expect((await publish(studio, pia, saying('Fixed'), 2, { scheduled: 'keep' })).status).toBe(201);
    expect((await studio.headlines('u1'))['home']).toBe('Fixed');
    expect(await row()).toMatchObject({ newest: 3, scheduled: [{ release: 2, liveAt: TUESDAY }] });
    const restored = await studio.call('POST', '/api/releases/1/restore', {
      body: { note: '', based_on: 3 },
      cookie: pia,
    });
    expect(restored.status).toBe(409);
    studio.clock.now = Date.parse(TUESDAY);
    await studio.workspaces.refresh();
    expect((await studio.headlines('u1'))['home']).toBe('On Tuesday');
  });

  test('cancels a scheduled release if its author chooses so, as stopping does', async () => {
    await publish(studio, pia, saying('Now'));
    await publish(studio, pia, saying('On Tuesday'), 1, { live_at: TUESDAY });
    await publish(studio, pia, saying('Fixed'), 2, { scheduled: 'cancel' });
    expect(await row()).toMatchObject({ newest: 3, scheduled: [] });
    await publish(studio, pia, saying('On Tuesday'), 3, { live_at: TUESDAY });
    await studio.call('POST', '/api/campaigns/sale/stop', { body: { note: '', based_on: 4 }, cookie: pia });
    studio.clock.now = Date.parse(TUESDAY);
    await studio.workspaces.refresh();
    expect((await studio.headlines('u1'))['home']).toBeNull();
    pia = await studio.signIn('Pia');
    const { releases } = (await studio.call('GET', '/api/releases?campaign=sale', { cookie: pia })).body;
    expect(releases.map((each: { cancelledAt: string | null }) => each.cancelledAt !== null)).toEqual([
      false,
      true,
      false,
      true,
      false,
    ]);
  });

  test('rolls out gradually by scheduled steps that keep earlier users, and cancels the others on a stop', async () => {
    const users = Array.from({ length: 60 }, (_, at) => `u${at}`);
    const countUsers = async () => {
      const shown = new Set<string>();
      for (const user of users) if ((await studio.headlines(user))['home'] === 'Sale!') shown.add(user);
      return shown;
    };
    const atHour = (hour: number) => new Date(studio.clock.now + hour * 3_600_000).toISOString();
    const step = (control_percentage: number, basedOn: number, more = {}) =>
      publish(studio, pia, saying('Sale!', { control_percentage }), basedOn, more);
    const steps = [
      await step(95, 0),
      await step(60, 1, { live_at: atHour(1) }),
      await step(0, 2, { live_at: atHour(2), scheduled: 'keep' }),
    ];
    expect(steps.map(({ status }) => status)).toEqual([201, 201, 201]);
    const first = await countUsers();
    const nextHour = async () => {
      studio.clock.now += 3_600_000;
      await studio.workspaces.refresh();
    };
    await nextHour();
    const second = await countUsers();
    expect(first.size).toBeLessThan(second.size);
    expect(second.size).toBeLessThan(users.length);
    expect([...first].filter((user) => !second.has(user))).toEqual([]);
    const cookie = await studio.signIn('Pia');
    await studio.call('POST', '/api/campaigns/sale/stop', { body: { note: '', based_on: 3 }, cookie });
    await nextHour();
    expect(await countUsers()).toEqual(new Set());
  });

  test('moves a scheduled release, and replicas apply the new time at once', async () => {
    await publish(studio, pia, saying('Now'));
    await publish(studio, pia, saying('On Tuesday'), 1, { live_at: TUESDAY });
    const replica = await runStudio(aStudioWorkspace(), { store: keptOpen(store) });
    const move = (cookie: string, liveAt: string, release = 2) =>
      studio.call('POST', `/api/releases/${release}/move`, { body: { live_at: liveAt }, cookie });
    const MONDAY = '2026-03-02T12:00:00.000Z';
    expect((await move(await studio.signIn('Ed'), MONDAY)).status).toBe(403);
    const past = await move(pia, '2026-03-01T09:00:00Z');
    expect([past.status, past.body.message]).toEqual([
      400,
      'live_at: 2026-03-01T09:00:00Z is in the past. Choose a later time, or publish now.',
    ]);
    expect((await move(pia, MONDAY)).body).toEqual({ release: 2, liveAt: MONDAY });
    expect(await row()).toMatchObject({ newest: 2, scheduled: [{ release: 2, liveAt: MONDAY }] });
    await replica.workspaces.refresh();
    replica.clock.now = studio.clock.now = Date.parse(MONDAY);
    await replica.workspaces.refresh();
    expect((await replica.headlines('u1'))['home']).toBe('On Tuesday');
    await replica.stop();
    pia = await studio.signIn('Pia');
    expect((await move(pia, TUESDAY)).status).toBe(409);
    expect((await move(pia, TUESDAY, 99)).status).toBe(404);
    const { body } = await studio.call('GET', '/api/audit', { cookie: await studio.signIn('Ada') });
    expect(body.entries).toContainEqual(
      expect.objectContaining({
        action: 'release.move',
        details: `release 2, scheduled for ${TUESDAY}, to ${MONDAY}`,
      }),
    );
  });

  test('returns a calendar of campaigns per placement, time and rank', async () => {
    const DAY_MS = 86_400_000;
    const from = studio.clock.now;
    const at = (days: number) => new Date(from + days * DAY_MS).toISOString();
    const named = (id: string, members: Record<string, unknown> = {}) =>
      saying(id, { campaign_id: id, name: id, ...members });
    await publish(studio, pia, named('sale', { placements: ['home'] }));
    await publish(studio, pia, named('advent', { priority: 'high', starts_at: at(3), ends_at: at(5) }));
    await publish(
      studio,
      pia,
      named('gold', { priority: 'high', audience: { 'custom_attributes.tier': 'gold' } }),
    );
    await publish(studio, pia, named('sale', { placements: ['side'] }), 1, { live_at: at(7) });
    const { body } = await studio.call('GET', '/api/schedule', { cookie: await studio.signIn('Vera') });
    const days = (ms: number) => (ms - from) / DAY_MS;
    const rows = (placement: { campaigns: { name: string; isForEveryone: boolean; spans: never[] }[] }) =>
      placement.campaigns.map(({ name, isForEveryone, spans }) => [
        name,
        isForEveryone,
        ...spans.map((span: { from: number; to: number; behind: string | null }) =>
          [days(span.from), days(span.to), span.behind].join(' '),
        ),
      ]);
    expect(body.placements.map(({ name }: { name: string }) => name)).toEqual(['Home', 'side']);
    expect(rows(body.placements[0])).toEqual([
      ['advent', true, '3 5 '],
      ['gold', false, '0 3 ', '3 5 advent', '5 56 '],
      ['sale', true, '0 3 ', '3 5 advent', '5 7 '],
    ]);
    expect(rows(body.placements[1])).toEqual([['sale', true, '7 56 ']]);
    expect(body.scheduled).toMatchObject([{ id: 'sale', scheduled: [{ release: 4, liveAt: at(7) }] }]);
  });

  test('lists a scheduled new campaign, and makes it a draft again if it is canceled', async () => {
    await publish(studio, pia, saying('On Tuesday'), 0, { live_at: TUESDAY });
    expect(await row()).toMatchObject({
      published: null,
      draft: null,
      scheduled: [{ release: 1, campaign: saying('On Tuesday') }],
    });
    const ed = await studio.signIn('Ed');
    const cancel = (cookie: string) => studio.call('POST', '/api/releases/1/cancel', { cookie });
    expect((await cancel(ed)).status).toBe(403);
    expect((await cancel(pia)).status).toBe(200);
    expect((await cancel(pia)).status).toBe(409);
    expect(await row()).toMatchObject({
      scheduled: [],
      draft: { campaign: saying('On Tuesday'), basedOn: 1 },
    });
    studio.clock.now = Date.parse(TUESDAY);
    await studio.workspaces.refresh();
    expect((await studio.headlines('u1'))['home']).toBeNull();
    pia = await studio.signIn('Pia');
    const { revision } = (await row()).draft;
    const again = await studio.call('POST', '/api/releases', {
      body: { campaign_id: 'sale', revision, note: '' },
      cookie: pia,
    });
    expect(again.status).toBe(201);
  });

  test('archives a stopped campaign with its content, which the history can restore', async () => {
    await publish(studio, pia, saying('Once'));
    const act = (verb: string, basedOn: number) =>
      studio.call('POST', `/api/campaigns/sale/${verb}`, {
        body: { note: 'over', based_on: basedOn },
        cookie: pia,
      });
    await save(studio, pia, saying('Half done'), 1);
    expect((await act('archive', 1)).status).toBe(409);
    const { draft } = (await studio.call('GET', '/api/campaigns/sale', { cookie: pia })).body;
    await studio.call('DELETE', '/api/drafts/sale', { cookie: pia, ifMatch: draft.revision });
    expect((await act('archive', 1)).body.release).toBe(2);
    expect((await studio.headlines('u1'))['home']).toBeNull();
    const row = (await studio.call('GET', '/api/campaigns/sale', { cookie: pia })).body;
    expect(row).toMatchObject({
      isArchived: true,
      newest: 2,
      published: { release: 2, campaign: { name: 'Sale', status: 'stopped' } },
    });
    expect((await studio.call('GET', '/api/results/sale', { cookie: pia })).status).toBe(200);
    const back = await studio.call('POST', '/api/releases/1/restore', {
      body: { note: 'again', based_on: 2 },
      cookie: pia,
    });
    expect(back.status).toBe(201);
    expect((await studio.headlines('u1'))['home']).toBe('Once');
    expect((await studio.call('GET', '/api/campaigns/sale', { cookie: pia })).body.isArchived).toBe(false);
  });

  test('archives a campaign that exists only in the file, with its text in the history', async () => {
    studio.edit(aStudioWorkspace({ campaigns: [saying('Of the file', { status: 'stopped' })] }));
    await studio.call('POST', '/api/campaigns/sale/archive', {
      body: { note: '', based_on: 0 },
      cookie: pia,
    });
    const row = (await studio.call('GET', '/api/campaigns/sale', { cookie: pia })).body;
    expect(row).toMatchObject({ isArchived: true, published: { campaign: { name: 'Sale' } } });
    const { releases } = (await studio.call('GET', '/api/releases?campaign=sale', { cookie: pia })).body;
    expect(releases.map(({ campaign }: { campaign: unknown }) => campaign !== null)).toEqual([false, true]);
    const { entries } = (await studio.call('GET', '/api/audit', { cookie: await studio.signIn('Ada') })).body;
    expect(
      entries
        .flatMap(({ action, details }: Record<string, string>) =>
          action!.startsWith('campaign.') ? [`${action} ${details}`] : [],
        )
        .toSorted(),
    ).toEqual(['campaign.archive as release 2', 'campaign.stop as release 1']);
  });

  test('rejects a release with both versions if a colleague published first', async () => {
    await publish(studio, pia, saying('First'));
    const { status, body } = await publish(studio, pia, saying('Second'), 0);
    expect(status).toBe(409);
    expect(body.theirs).toMatchObject({ release: 1, author: 'Pia', campaign: saying('First') });
    expect((await studio.headlines('u1'))['home']).toBe('First');
    expect((await publish(studio, pia, saying('Second'), 1)).status).toBe(201);
  });

  test('restores a previous version as a new release', async () => {
    await publish(studio, pia, saying('First'));
    await publish(studio, pia, saying('Second'), 1);
    const back = (basedOn: number) =>
      studio.call('POST', '/api/releases/1/restore', {
        body: { note: 'oops', based_on: basedOn },
        cookie: pia,
      });
    expect((await back(1)).status).toBe(409);
    expect((await back(2)).body.release).toBe(3);
    expect((await studio.headlines('u1'))['home']).toBe('First');
    const unknown = await studio.call('POST', '/api/releases/99/restore', {
      body: { note: '', based_on: 3 },
      cookie: pia,
    });
    expect(unknown.status).toBe(404);
  });

  test('stops a campaign at once and keeps its draft', async () => {
    await publish(studio, pia, saying('First'));
    await save(studio, pia, saying('Being written'), 1);
    const stopped = await studio.call('POST', '/api/campaigns/sale/stop', {
      body: { note: '', based_on: 1 },
      cookie: pia,
    });
    expect(stopped.status).toBe(201);
    expect((await studio.headlines('u1'))['home']).toBeNull();
    const { body } = await studio.call('GET', '/api/campaigns/sale', { cookie: pia });
    expect(body).toMatchObject({ published: { campaign: { status: 'stopped' } }, draft: { editor: 'Pia' } });
  });
});

describe('publishing', () => {
  let studio: RunningStudio;
  let pia: string;
  beforeEach(async () => {
    studio = await runStudio();
    pia = await studio.signIn('Pia');
  });
  afterEach(() => studio.stop());

  test('starts from the campaigns of the file', async () => {
    studio.edit(aStudioWorkspace({ campaigns: [saying('From the file')] }));
    expect((await studio.headlines('u1'))['home']).toBe('From the file');
    const { body } = await studio.call('GET', '/api/campaigns/sale', { cookie: pia });
    expect(body).toMatchObject({ newest: 0, published: { release: 0 } });
    await publish(studio, pia, saying('From the Studio'));
    expect((await studio.headlines('u1'))['home']).toBe('From the Studio');
  });

  test('rejects drafts that the service would reject, and a campaign without reach', async () => {
    const broken = [
      saying('Hi {{ ${first_name'),
      saying(''),
      saying('x', { placements: [] }),
      saying('x', { placements: ['nowhere'] }),
      saying('x', { audience: { tier: { $where: 'true' } } }),
      saying('x', { starts_at: '2026-03-05T00:00:00Z', ends_at: '2026-03-04T00:00:00Z' }),
      saying('x', { unknown_member: 1 }),
      saying('x', { variants: [] }),
      saying('x', {
        variants: [
          aVariant({
            properties: {
              headline: { type: 'string', value: 'x' },
              link: { type: 'string', value: 'javascript:alert(1)' },
            },
          }),
        ],
      }),
    ];
    for (const campaign of broken) {
      const { status, body } = await publish(studio, pia, campaign);
      expect(status, JSON.stringify(campaign)).toBe(422);
      expect(body.checks[0]).toMatchObject({ severity: 'error' });
    }
    expect(await studio.store.studio.releases('test', { limit: 9 })).toEqual([]);
  });

  test('rejects a time in the past without publishing', async () => {
    const past = await publish(studio, pia, saying('Late'), 0, { live_at: '2026-03-02T09:59:59+01:00' });
    expect([past.status, past.body.message]).toEqual([
      400,
      'live_at: 2026-03-02T09:59:59+01:00 is in the past. Choose a later time, or publish now.',
    ]);
    expect(await studio.store.studio.releases('test', { limit: 9 })).toEqual([]);
    const now = await publish(studio, pia, saying('Now'), 0, { live_at: '2026-03-02T10:00:00+01:00' });
    expect(now.status).toBe(201);
  });

  test('returns its full history in pages', async () => {
    for (let release = 0; release < 28; release += 1) {
      await studio.store.studio.addRelease({
        workspaceId: 'test',
        kind: 'campaign',
        subjectId: 'sale',
        content: saying(`Text ${release}`),
        basedOn: release,
        author: 'Pia',
        note: '',
        createdAtMs: release,
        liveAtMs: release,
      });
    }
    const { body: first } = await studio.call('GET', '/api/releases?campaign=sale', { cookie: pia });
    expect([first.releases.length, first.before]).toEqual([25, 4]);
    const path = `/api/releases?campaign=sale&before=${first.before}`;
    const { body: rest } = await studio.call('GET', path, { cookie: pia });
    expect(rest.releases.map(({ release }: { release: number }) => release)).toEqual([3, 2, 1]);
    expect(rest.before).toBeNull();
  });

  test('publishes only the draft revision that its author has seen', async () => {
    const { body } = await save(studio, pia, saying('Seen'));
    await save(studio, await studio.signIn('Ed'), saying('Changed since'));
    const answer = await studio.call('POST', '/api/releases', {
      body: { campaign_id: 'sale', revision: body.revision, note: '' },
      cookie: pia,
    });
    expect(answer.status).toBe(412);
  });

  test('requires a second operator if the workspace requires approval', async () => {
    studio.edit(aStudioWorkspace({ studio: { require_approval: true } }));
    expect((await publish(studio, pia, saying('Mine'))).status).toBe(403);
    const { body } = await save(studio, await studio.signIn('Ed'), saying('Of Ed'));
    const answer = await studio.call('POST', '/api/releases', {
      body: { campaign_id: 'sale', revision: body.revision, note: '' },
      cookie: pia,
    });
    expect(answer.status).toBe(201);
  });

  test('rejects releases but stores drafts if the workspace file holds the campaigns', async () => {
    studio.edit(aStudioWorkspace({ campaigns_from: 'file', campaigns: [saying('From the file')] }));
    const { status, body } = await publish(studio, pia, saying('Another'));
    expect([status, body.message]).toEqual([403, expect.stringContaining('in the workspace file')]);
    expect((await studio.headlines('u1'))['home']).toBe('From the file');
    const row = await studio.call('GET', '/api/campaigns/sale', { cookie: pia });
    expect(row.body.draft.campaign).toEqual(saying('Another'));
  });

  test('skips a release whose placement was removed from the file, and logs it', async () => {
    await publish(studio, pia, saying('First'));
    studio.edit(aStudioWorkspace({ placements: [{ placement_id: 'side' }] }));
    expect(await studio.headlines('u1')).toEqual({ home: null, side: null });
    expect(studio.lines).toContainEqual(
      expect.objectContaining({ level: 'error', campaign: 'sale', message: 'release not shown' }),
    );
  });
});

describe('draft', () => {
  let studio: RunningStudio;
  beforeEach(async () => {
    studio = await runStudio();
  });
  afterEach(() => studio.stop());

  test('replaces only the revision that its editor had, and reports the other author of a conflict', async () => {
    const [ed, pia] = [await studio.signIn('Ed'), await studio.signIn('Pia')];
    const { body: first } = await save(studio, ed, saying('Of Ed'));
    const put = (cookie: string, headline: string, ifMatch?: string) =>
      studio.call('PUT', '/api/drafts/sale', {
        body: { campaign: saying(headline), based_on: 0 },
        cookie,
        ...(ifMatch !== undefined && { ifMatch }),
      });
    expect((await put(pia, 'Of Pia', first.revision)).status).toBe(200);
    const late = await put(ed, 'Of Ed, later', first.revision);
    expect(late.status).toBe(412);
    expect(late.body.theirs).toMatchObject({ editor: 'Pia', campaign: saying('Of Pia') });
    expect((await put(ed, 'As if new')).status).toBe(412);
    expect((await put(ed, 'Over it', late.body.theirs.revision)).status).toBe(200);
  });

  test('keeps an incomplete text as written, with its findings', async () => {
    const { status, body } = await save(studio, await studio.signIn('Ed'), saying('Hi {{ ${first_name'));
    expect(status).toBe(200);
    expect(body.checks).toEqual([
      {
        severity: 'error',
        path: ['variants', 0, 'properties', 'headline', 'value'],
        message: 'Unclosed {{. Add }} and close quotation marks.',
      },
    ]);
  });

  test('reports all findings at once, so that a failing text does not hide rejected links', async () => {
    const properties = {
      headline: { type: 'string', value: 'Hi {{ ${first_name' },
      link: { type: 'string', value: 'javascript:alert(1)' },
    };
    const campaign = saying('', { variants: [aVariant({ properties })] });
    const { body } = await save(studio, await studio.signIn('Ed'), campaign);
    const errors = body.checks.filter(({ severity }: { severity: string }) => severity === 'error');
    expect(errors.map(({ path }: { path: string[] }) => path[3])).toEqual(['headline', 'link']);
  });

  test('deletes only the given revision', async () => {
    const ed = await studio.signIn('Ed');
    const { body } = await save(studio, ed, saying('x'));
    expect((await studio.call('DELETE', '/api/drafts/sale', { cookie: ed })).status).toBe(428);
    expect((await studio.call('DELETE', '/api/drafts/sale', { cookie: ed, ifMatch: 'other' })).status).toBe(
      412,
    );
    expect(
      (await studio.call('DELETE', '/api/drafts/sale', { cookie: ed, ifMatch: body.revision })).status,
    ).toBe(204);
    expect((await studio.call('GET', '/api/campaigns/sale', { cookie: ed })).status).toBe(404);
  });

  test.each([
    ['starts_at', '1899-12-11T10:00:00+33283824:53'],
    ['ends_at', '2026-02-30T10:00:00Z'],
    ['ends_at', 'soon'],
    ['placements', null],
    ['variants', [{ variant_id: 'a' }]],
    ['name', 7],
  ])('rejects the %s %j, which pages cannot show, and the list still loads', async (member, value) => {
    const ed = await studio.signIn('Ed');
    await save(studio, ed, saying('Before'));
    const { status, body } = await save(studio, ed, saying('After', { [member]: value }));
    expect(status).toBe(400);
    expect(body.message).toContain(`campaign.${member}`);
    if (member.endsWith('_at')) {
      expect(body.message).toContain(
        `expected a date and time with its offset, such as 2026-03-01T09:00:00+01:00, got "${value}"`,
      );
    }
    const { body: list } = await studio.call('GET', '/api/campaigns', { cookie: ed });
    expect(list.campaigns).toMatchObject([{ draft: { campaign: saying('Before') } }]);
  });

  test('rejects a campaign other than that in the URL', async () => {
    const answer = await studio.call('PUT', '/api/drafts/other', {
      body: { campaign: saying('x'), based_on: 0 },
      cookie: await studio.signIn('Ed'),
    });
    expect(answer.status).toBe(400);
  });
});
