import { describe, expect, test } from 'vitest';
import { countReach } from '../../../src/service/campaigns/reach.ts';
import { REACH_SAMPLE, type Reach, readCampaign } from '../../../src/service/index.ts';
import { createProfile } from '../../../src/service/profiles/profile.ts';
import { parseWorkspace } from '../../../src/service/workspace/parse-workspace.ts';
import { aCampaign, aWorkspace } from '../../helpers/a-workspace.ts';
import { NOW, onBothStores } from '../users/on-both-stores.ts';

const USERS = 900;
const OBJECTS = 75;
const campaignFor = (audience: unknown) => readCampaign(aCampaign({ audience }), {}).campaign!;
const gold = campaignFor({ 'custom_attributes.tier': 'gold' });

onBothStores('the reach of an audience', (api, store) => {
  /** A third of the users is gold, and every tenth has only an alias. */
  const addUsers = async () => {
    const attributes = Array.from({ length: USERS }, (_, index) => ({
      ...(index % 10 === 9
        ? { user_alias: { alias_name: `a-${index}`, alias_label: 'crm' }, _update_existing_only: false }
        : { external_id: `u-${index}` }),
      tier: index % 3 === 0 ? 'gold' : 'silver',
    }));
    for (let first = 0; first < USERS; first += OBJECTS) {
      await api().track({ attributes: attributes.slice(first, first + OBJECTS) });
    }
  };
  const workspaceId = async () => {
    const ids = await store().workspaceIds();
    return ids.sort((one, other) => Number(one.slice(2)) - Number(other.slice(2))).at(-1)!;
  };
  const getReach = async (campaign: typeof gold, sampleSize = REACH_SAMPLE) =>
    countReach({
      sample: await store().sampleUsers({
        workspaceId: await workspaceId(),
        size: sampleSize,
        campaignIds: [],
      }),
      workspace: parseWorkspace(aWorkspace()),
      campaign,
      now: NOW,
      // Cold code on a busy machine would exceed the time budget, and the remaining counts would be estimates.
      clock: () => 0,
    }) as Promise<Reach>;

  test('is exact if every user can be checked, and excludes users without an external ID', async () => {
    await addUsers();
    expect(await getReach(gold)).toEqual({ users: 270, atLeast: 270, atMost: 270, total: USERS, shown: 270 });
    expect(await getReach(campaignFor(null))).toEqual({
      users: 810,
      atLeast: 810,
      atMost: 810,
      total: USERS,
      shown: 810,
    });
  });

  test('is estimated from a sample with error bounds, with the same result on each call', async () => {
    await addUsers();
    const reach = await getReach(gold, 200);
    expect(reach.total).toBe(USERS);
    expect(reach.atLeast).toBeLessThanOrEqual(270);
    expect(reach.atMost).toBeGreaterThanOrEqual(270);
    expect(reach.atMost - reach.atLeast).toBeGreaterThan(50);
    expect(reach.atMost - reach.atLeast).toBeLessThan(150);
    expect(await getReach(gold, 200)).toEqual(reach);
  });

  test('is estimated from a smaller random sample with wider bounds if checks are slow', async () => {
    await addUsers();
    let ms = 0;
    const reach = (await countReach({
      sample: await store().sampleUsers({
        workspaceId: await workspaceId(),
        size: REACH_SAMPLE,
        campaignIds: [],
      }),
      workspace: parseWorkspace(aWorkspace()),
      campaign: gold,
      now: NOW,
      clock: () => {
        ms += 0.2;
        return ms;
      },
    })) as Reach;
    expect(reach.total).toBe(USERS);
    expect(reach.atMost - reach.atLeast).toBeGreaterThan(50);
    expect(reach.atLeast).toBeLessThanOrEqual(270);
    expect(reach.atMost).toBeGreaterThanOrEqual(270);
  });

  test('is zero with an upper bound if no user matches a filter', async () => {
    await addUsers();
    const reach = await getReach(campaignFor({ 'custom_attributes.tier': 'iron' }), 200);
    expect(reach).toMatchObject({ users: 0, atLeast: 0, total: USERS });
    expect(reach.atMost).toBeGreaterThan(0);
  });
});

const workspace = parseWorkspace(
  aWorkspace({
    campaigns: [
      aCampaign({
        campaign_id: 'first',
        placements: ['home'],
        priority: 'high',
        audience: { country: 'PL' },
      }),
      aCampaign({ campaign_id: 'other', placements: ['side'], priority: 'high', status: 'stopped' }),
    ],
  }),
);

describe('the reach in a workspace', () => {
  const users = Array.from({ length: 400 }, (_, index) => ({
    externalId: `u-${index}`,
    campaigns: [],
    profile: createProfile({
      userId: index,
      externalId: `u-${index}`,
      standard: { country: index % 4 === 0 ? 'PL' : 'DE' },
      createdAtMs: NOW,
      updatedAtMs: NOW,
    }),
  }));
  const getReach = (members: Record<string, unknown>, more: { isOver?(): boolean; clock?(): number } = {}) =>
    countReach({
      sample: { total: users.length, users },
      workspace,
      campaign: readCampaign(aCampaign({ campaign_id: 'new', ...members }), { publishedAtMs: NOW }).campaign!,
      now: NOW,
      ...more,
    });

  test('is zero without users', async () => {
    const sample = { total: 0, users: [] };
    expect(await countReach({ sample, workspace, campaign: gold, now: NOW })).toEqual({
      users: 0,
      atLeast: 0,
      atMost: 0,
      total: 0,
      shown: 0,
    });
  });

  test('excludes users who get another campaign on every placement', async () => {
    expect(await getReach({ placements: ['home'] })).toMatchObject({ users: 400, shown: 300 });
    expect(await getReach({ placements: ['home', 'side'] })).toMatchObject({ users: 400, shown: 400 });
    const polish = { audience: { country: 'PL' }, placements: ['home'] };
    expect(await getReach(polish)).toMatchObject({ users: 100, shown: 0 });
    expect(await getReach({ ...polish, priority: 'high' })).toMatchObject({ users: 100, shown: 100 });
  });

  test('excludes the control group', async () => {
    const reach = (await getReach({ placements: ['side'], control_percentage: 50 }))!;
    expect(reach.users).toBe(400);
    expect(reach.shown).toBeGreaterThan(160);
    expect(reach.shown).toBeLessThan(240);
  });

  test('yields to other requests, and stops when canceled', async () => {
    let turns = 0;
    let isCounted = false;
    const turn = () => {
      turns += 1;
      if (!isCounted) setImmediate(turn);
    };
    setImmediate(turn);
    let ms = 0;
    const clock = () => {
      ms += 0.05;
      return ms;
    };
    expect(await getReach({ placements: ['home'] }, { clock })).toMatchObject({ users: 400, atLeast: 400 });
    isCounted = true;
    expect(turns).toBeGreaterThan(1);
    let looked = 0;
    expect(await getReach({ placements: ['home'] }, { isOver: () => ++looked > 3 })).toBeNull();
    expect(looked).toBe(4);
  });
});
