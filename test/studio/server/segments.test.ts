import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStore, type Store } from '../../../src/service/index.ts';
import type { SegmentImpact } from '../../../src/studio/server/routes/segments.ts';
import { aCampaign } from '../../helpers/a-workspace.ts';
import { keptOpen, STORES } from '../../helpers/running-service.ts';
import { aStudioWorkspace, type RunningStudio, runStudio } from '../../helpers/running-studio.ts';

const text = (value: string) => [{ variant_id: 'a', properties: { headline: { type: 'string', value } } }];
const FOR_GOLD = aCampaign({
  campaign_id: 'sale',
  name: 'Sale',
  placements: ['home'],
  audience: { $segment: 'gold' },
  variants: text('For gold'),
});

describe.each(STORES)('segments on $name', ({ address }) => {
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

  const save = (id: string, audience: unknown, basedOn = 0, name = 'Gold customers') =>
    studio.call('PUT', `/api/segments/${id}`, {
      body: { name, audience, note: '', based_on: basedOn },
      cookie: pia,
    });
  const publish = async (campaign: Record<string, unknown>, basedOn = 0) => {
    const id = campaign['campaign_id'] as string;
    const { body } = await studio.call('PUT', `/api/drafts/${id}`, {
      body: { campaign, based_on: basedOn },
      cookie: pia,
    });
    return studio.call('POST', '/api/releases', {
      body: { campaign_id: id, revision: body.revision, note: '' },
      cookie: pia,
    });
  };
  const list = async (cookie = pia) => (await studio.call('GET', '/api/segments', { cookie })).body.segments;
  const home = async (user: string) => (await studio.headlines(user))['home'];

  test('selects the users of a campaign, and membership changes apply at once', async () => {
    await studio.track({
      attributes: [
        { external_id: 'g1', tier: 'gold' },
        { external_id: 's1', tier: 'silver' },
      ],
    });
    const before = await publish(FOR_GOLD);
    expect([before.status, before.body.checks[0].message]).toEqual([
      422,
      'Unknown segment "gold". Choose another one.',
    ]);
    expect((await save('gold', { tier: 'gold' })).status).toBe(201);
    const { revision } = (await studio.call('GET', '/api/campaigns/sale', { cookie: pia })).body.draft;
    await studio.call('POST', '/api/releases', {
      body: { campaign_id: 'sale', revision, note: '' },
      cookie: pia,
    });
    expect([await home('g1'), await home('s1')]).toEqual(['For gold', null]);

    const replica = await runStudio(aStudioWorkspace(), { store: keptOpen(store) });
    const newest = (await list())[0].newest;
    expect((await save('gold', { tier: { $in: ['gold', 'silver'] } }, newest)).status).toBe(201);
    expect([await home('g1'), await home('s1')]).toEqual(['For gold', 'For gold']);
    await replica.workspaces.refresh();
    expect((await replica.headlines('s1'))['home']).toBe('For gold');
    await replica.stop();
    // Another operator has changed it since.
    expect((await save('gold', { tier: 'gold' }, newest)).status).toBe(409);
  });

  test('combines segments with other conditions and with negation', async () => {
    await save('gold', { tier: 'gold' });
    await studio.track({
      attributes: [
        { external_id: 'g1', tier: 'gold', country: 'DE' },
        { external_id: 'g2', tier: 'gold', country: 'PL' },
        { external_id: 's1', tier: 'silver', country: 'DE' },
      ],
    });
    await publish({ ...FOR_GOLD, audience: { $segment: 'gold', country: 'DE' } });
    const others = { ...FOR_GOLD, campaign_id: 'other', audience: { $nor: [{ $segment: 'gold' }] } };
    await publish({ ...others, variants: text('For others') });
    expect([await home('g1'), await home('g2'), await home('s1')]).toEqual(['For gold', null, 'For others']);
  });

  test('lists segments with their rounded size and their campaigns', async () => {
    await studio.track({
      attributes: Array.from({ length: 47 }, (_, i) => ({ external_id: `g${i}`, tier: 'gold' })),
    });
    await save('gold', { tier: 'gold' });
    await publish(FOR_GOLD);
    await studio.call('PUT', '/api/drafts/new', {
      body: { campaign: { ...FOR_GOLD, campaign_id: 'new', name: 'New' }, based_on: 0 },
      cookie: pia,
    });
    expect(await list(await studio.signIn('Vera'))).toMatchObject([
      {
        id: 'gold',
        name: 'Gold customers',
        reach: { users: 40, total: 47 },
        usedBy: [
          { id: 'sale', name: 'Sale', isLive: true },
          { id: 'new', name: 'New', isLive: false },
        ],
      },
    ]);
    const { campaigns } = (await studio.call('GET', '/api/campaigns', { cookie: pia })).body;
    expect(campaigns.map(({ id }: { id: string }) => id)).toEqual(['sale', 'new']);
    await save('one', { email: 'kim@example.org' }, 0, 'One person');
    expect((await list())[1].reach).toBe('needs_permission');
  });

  test('reports which live campaigns a change would silence before it is made', async () => {
    const people = Array.from({ length: 10 }, (_, i) => ({
      external_id: `u${i}`,
      tier: i < 5 ? 'gold' : 'silver',
    }));
    await studio.track({ attributes: people });
    await save('gold', { tier: 'gold' });
    await publish(FOR_GOLD);
    await publish({
      ...FOR_GOLD,
      campaign_id: 'others',
      name: 'Others',
      audience: { $nor: [{ $segment: 'gold' }] },
    });
    await publish({ ...FOR_GOLD, campaign_id: 'paused', status: 'stopped' });
    const impact = async (audience: unknown, name = 'Ada') => {
      const { status, body } = await studio.call('POST', '/api/segments/gold/impact', {
        body: { audience },
        cookie: await studio.signIn(name),
      });
      return status === 200
        ? body.campaigns.map((each: SegmentImpact) => [
            each.name,
            each.reach?.before.users,
            each.reach?.after.users,
            each.isSilenced,
          ])
        : [status, body.message];
    };
    expect(await impact({ tier: 'golden' })).toEqual([
      ['Sale', 5, 0, true],
      ['Others', 5, 10, false],
    ]);
    expect(await impact({ tier: { $in: ['gold', 'silver'] } })).toEqual([
      ['Sale', 5, 10, false],
      ['Others', 5, 0, true],
    ]);
    // Operators without the right to view users learn nothing about single users.
    expect(await impact({ external_id: 'u1' }, 'Vera')).toEqual([
      ['Sale', undefined, undefined, false],
      ['Others', undefined, undefined, false],
    ]);
    expect((await impact({ $segment: 'gold' }))[0]).toBe(422);
  });

  test('rejects the removal of a used segment, and a segment in a segment', async () => {
    await save('gold', { tier: 'gold' });
    await publish(FOR_GOLD);
    const remove = async () =>
      studio.call('POST', '/api/segments/gold/remove', {
        body: { note: '', based_on: (await list())[0].newest },
        cookie: pia,
      });
    expect((await remove()).body.message).toBe('In use by: “Sale”');
    await publish({ ...FOR_GOLD, audience: null }, 2);
    expect((await remove()).status).toBe(201);
    expect(await list()).toEqual([]);
    expect((await save('gold', { $segment: 'gold' }, 4)).status).toBe(422);
    expect((await save('gold', { tier: { $foo: 1 } }, 4)).status).toBe(422);
    const ed = await studio.signIn('Ed');
    const body = { name: 'x', audience: {}, note: '', based_on: 0 };
    expect((await studio.call('PUT', '/api/segments/x', { body, cookie: ed })).status).toBe(403);
  });
});

test('counts as many of the largest segments as time allows, and lists the others', async () => {
  const audience = { $nor: Array.from({ length: 330 }, (_, at) => ({ text: { $regex: `^x*x*y${at}` } })) };
  const studio = await runStudio(
    aStudioWorkspace({
      campaigns_from: 'file',
      segments: Array.from({ length: 50 }, (_, at) => ({
        segment_id: `s${at}`,
        name: `Segment ${at}`,
        audience,
      })),
      campaigns: [],
    }),
  );
  await studio.track({ attributes: [{ external_id: 'u', text: 'x'.repeat(1_000) }] });
  const { body } = await studio.call('GET', '/api/segments', { cookie: await studio.signIn('Vera') });
  expect(body.segments.at(0).reach).toMatchObject({ total: 1 });
  expect(body.segments.at(-1).reach).toBe('not_counted');
  await studio.stop();
});

test('lets campaigns of the file use segments of the file', async () => {
  const studio = await runStudio(
    aStudioWorkspace({
      campaigns_from: 'file',
      segments: [{ segment_id: 'gold', name: 'Gold customers', audience: { tier: 'gold' } }],
      campaigns: [FOR_GOLD],
    }),
  );
  await studio.track({ attributes: [{ external_id: 'g1', tier: 'gold' }] });
  expect((await studio.headlines('g1'))['home']).toBe('For gold');
  expect((await studio.headlines('s1'))['home']).toBeNull();
  await studio.stop();
  const wrong = [
    [
      { segments: [] },
      /campaigns\[0\]\.audience\.\$segment: expected a segment_id of 'segments', got "gold"/,
    ],
    [
      { segments: [{ segment_id: 'gold', audience: { $segment: 'x' } }] },
      /segments\[0\]\.audience: expected a filter without/,
    ],
    [
      { segments: [{ segment_id: 'gold', audience: { a: { $foo: 1 } } }] },
      /segments\[0\]\.audience\.a\.\$foo: expected one of/,
    ],
  ] as const;
  for (const [members, problem] of wrong) {
    await expect(runStudio(aStudioWorkspace({ campaigns: [FOR_GOLD], ...members }))).rejects.toThrow(problem);
  }
  await expect(
    runStudio(aStudioWorkspace({ campaigns: [{ ...FOR_GOLD, campaign_id: '@sale' }] })),
  ).rejects.toThrow(/campaign_id: expected an ID that does not begin with "@"/);
});
