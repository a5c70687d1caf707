import { describe, expect, test } from 'vitest';
import { countReach } from '../../../src/service/campaigns/reach.ts';
import { readCampaign } from '../../../src/service/index.ts';
import { aCampaign } from '../../helpers/a-workspace.ts';
import { NOW, onBothStores } from '../users/on-both-stores.ts';

const USERS = 900;
const OBJECTS = 75;
const campaignFor = (audience: unknown) => readCampaign(aCampaign({ audience }), null).campaign!;
const gold = campaignFor({ 'custom_attributes.tier': 'gold' });

onBothStores('the reach of an audience', (api, store) => {
  /** A third of them is gold, and every tenth has an alias alone. */
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
  const reachOf = async (campaign: typeof gold, sampleSize?: number) =>
    countReach({
      store: store(),
      workspaceId: await workspaceId(),
      campaign,
      now: NOW,
      ...(sampleSize !== undefined && { sampleSize }),
    });

  test('is counted where every user can be looked at, and those without an external ID are not in it', async () => {
    await addUsers();
    expect(await reachOf(gold)).toEqual({ users: 270, atLeast: 270, atMost: 270, of: USERS });
    expect(await reachOf(campaignFor(null))).toEqual({ users: 810, atLeast: 810, atMost: 810, of: USERS });
  });

  test('is estimated from a sample with the bounds of its error, the same at each call', async () => {
    await addUsers();
    const reach = await reachOf(gold, 200);
    expect(reach.of).toBe(USERS);
    expect(reach.atLeast).toBeLessThanOrEqual(270);
    expect(reach.atMost).toBeGreaterThanOrEqual(270);
    expect(reach.atMost - reach.atLeast).toBeGreaterThan(50);
    expect(reach.atMost - reach.atLeast).toBeLessThan(150);
    expect(await reachOf(gold, 200)).toEqual(reach);
  });

  test('is nobody where a filter matches no user, and the bounds say how many there may be', async () => {
    await addUsers();
    const reach = await reachOf(campaignFor({ 'custom_attributes.tier': 'iron' }), 200);
    expect(reach).toMatchObject({ users: 0, atLeast: 0, of: USERS });
    expect(reach.atMost).toBeGreaterThan(0);
  });
});

describe('the reach in a workspace without users', () => {
  test('is nobody', async () => {
    const store = { sampleUsers: async () => ({ total: 0, users: [] }) };
    expect(await countReach({ store, workspaceId: 'w', campaign: gold, now: NOW })).toEqual({
      users: 0,
      atLeast: 0,
      atMost: 0,
      of: 0,
    });
  });
});
