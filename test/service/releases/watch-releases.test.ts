import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openStore, type Store } from '../../../src/service/index.ts';
import { watchReleases } from '../../../src/service/releases/watch-releases.ts';
import { parseWorkspace } from '../../../src/service/workspace/parse-workspace.ts';
import { createRegistry } from '../../../src/service/workspace/workspace.ts';
import { aCampaign, aWorkspace } from '../../helpers/a-workspace.ts';
import { recordingLog } from '../../helpers/running-service.ts';

const POLL_MS = 5;

let store: Store;
let lines: Record<string, unknown>[];
beforeEach(async () => {
  store = await openStore(':memory:');
  lines = [];
});
afterEach(() => store.close());

const getRegistry = (members: Record<string, unknown>) =>
  createRegistry([{ workspace: parseWorkspace(aWorkspace(members)), source: 'test' }]);
const follow = (members: Record<string, unknown>, studio = store.studio, pollMs = POLL_MS) => {
  const registry = getRegistry(members);
  const source = { registry: () => registry, stop: vi.fn() };
  return watchReleases(source, studio, { log: recordingLog(lines), pollMs });
};
const release = (campaignId: string, name: string, basedOn = 0) =>
  store.studio.addRelease({
    workspaceId: 'test',
    kind: 'campaign',
    subjectId: campaignId,
    content: aCampaign({ campaign_id: campaignId, name }),
    basedOn,
    author: 'Mia',
    note: '',
    createdAtMs: 1,
    liveAtMs: 1,
  });
const getNames = (source: { registry(): ReturnType<typeof getRegistry> }) =>
  source.registry().workspaces[0]!.campaigns.map(({ name }) => name);

describe('a workspace with Studio campaigns', () => {
  const STUDIO = {
    campaigns_from: 'studio',
    campaigns: [aCampaign({ campaign_id: 'a', name: 'A of the file' })],
  };

  test('has released campaigns first, then the other campaigns of the file', async () => {
    await release('b', 'B');
    const source = await follow(STUDIO);
    expect(getNames(source)).toEqual(['A of the file', 'B']);
    source.stop();
  });

  test('changes the release ID with each release and with the file, equally on all replicas', async () => {
    const read = async (members: Record<string, unknown> = STUDIO) => {
      const source = await follow(members);
      source.stop();
      return source.registry().workspaces[0]!.release;
    };
    const ids = [await read()];
    await release('b', 'B');
    ids.push(await read());
    await release('a', 'A of the Studio');
    ids.push(await read(), await read({ ...STUDIO, tag_caps: [{ tag: 'sale', campaigns_per_day: 1 }] }));
    expect(new Set(ids).size).toBe(4);
    expect(await read()).toBe(ids[2]);
  });

  test('includes a campaign that is published during a slow read', async () => {
    const slow = Promise.withResolvers<void>();
    let isSlow = false;
    const releaseState = async (workspaceId: string, nowMs: number) => {
      const state = await store.studio.releaseState(workspaceId, nowMs);
      if (!isSlow) return state;
      isSlow = false;
      for (let turns = 0; turns < 50; turns += 1) await new Promise(setImmediate);
      setImmediate(slow.resolve);
      return state;
    };
    const source = await follow(STUDIO, { ...store.studio, releaseState }, 60_000);
    isSlow = true;
    const looked = source.refresh();
    await release('b', 'B');
    await Promise.all([source.refresh(), looked, slow.promise]);
    expect(getNames(source)).toEqual(['A of the file', 'B']);
    source.stop();
  });

  test('reads releases only if a newer one exists or a scheduled one is due', async () => {
    await release('b', 'B');
    let now = 10;
    const liveReleases = vi.fn(store.studio.liveReleases);
    const registry = getRegistry(STUDIO);
    const source = await watchReleases(
      { registry: () => registry, stop: vi.fn() },
      { ...store.studio, liveReleases },
      { log: recordingLog(lines), pollMs: 60_000, now: () => now },
    );
    for (let looks = 0; looks < 5; looks += 1) await source.refresh();
    expect(liveReleases).toHaveBeenCalledTimes(1);
    const planned = { content: aCampaign({ campaign_id: 'c', name: 'C' }), author: 'Mia', note: '' };
    await store.studio.addRelease({
      ...planned,
      workspaceId: 'test',
      kind: 'campaign',
      subjectId: 'c',
      basedOn: 0,
      createdAtMs: 10,
      liveAtMs: 50,
    });
    await source.refresh();
    expect(getNames(source)).toEqual(['A of the file', 'B']);
    now = 50;
    await source.refresh();
    expect(getNames(source)).toEqual(['A of the file', 'B', 'C']);
    await source.refresh();
    expect(liveReleases).toHaveBeenCalledTimes(3);
    source.stop();
  });

  test('applies a scheduled release, and keeps the position of the campaign in the file', async () => {
    const source = await follow(STUDIO);
    await release('b', 'B');
    await release('a', 'A of the Studio');
    await expect.poll(() => getNames(source)).toEqual(['A of the Studio', 'B']);
    source.stop();
  });

  test('is the same object until a change, so that compiled campaigns are reused', async () => {
    await release('a', 'A');
    const source = await follow(STUDIO);
    const before = source.registry();
    await source.refresh();
    expect(source.registry()).toBe(before);
    await release('a', 'A, again', 1);
    await source.refresh();
    expect(source.registry()).not.toBe(before);
    source.stop();
  });

  test('keeps its keys', async () => {
    await release('a', 'A');
    const source = await follow(STUDIO);
    const { workspaces, findApiKey } = source.registry();
    expect(findApiKey(workspaces[0]!.apiKeys[0]!.hash)?.workspace).toBe(workspaces[0]);
    source.stop();
  });

  test('keeps the last releases during a database outage, and logs it once', async () => {
    await release('a', 'A');
    let isAway = false;
    const studio = {
      ...store.studio,
      releaseState: (workspaceId: string, nowMs: number) =>
        isAway ? Promise.reject(new Error('away')) : store.studio.releaseState(workspaceId, nowMs),
    };
    const source = await follow(STUDIO, studio);
    isAway = true;
    const warnings = () =>
      lines.filter(({ message }) => message === 'releases not read: previous ones stay in use');
    await expect.poll(() => warnings().length).toBe(1);
    expect(getNames(source)).toEqual(['A']);
    isAway = false;
    await release('a', 'A, again', 1);
    await expect.poll(() => getNames(source)).toEqual(['A, again']);
    expect(warnings()).toHaveLength(1);
    source.stop();
  });

  test('is unavailable if the first read fails', async () => {
    const studio = { ...store.studio, liveReleases: () => Promise.reject(new Error('away')) };
    await expect(follow(STUDIO, studio)).rejects.toThrow('away');
  });
});

test('reports a file edit of a released campaign by name', async () => {
  await release('b', 'B');
  const file = (name: string) =>
    getRegistry({
      campaigns_from: 'studio',
      campaigns: [
        aCampaign({ campaign_id: 'a', name }),
        aCampaign({ campaign_id: 'b', name }),
        aCampaign({ campaign_id: 'same', name: 'Same' }),
      ],
    });
  let registry = file('Before');
  const source = await watchReleases({ registry: () => registry, stop: vi.fn() }, store.studio, {
    log: recordingLog(lines),
    pollMs: 60_000,
  });
  source.registry();
  registry = file('After');
  expect(getNames(source)).toEqual(['After', 'B', 'Same']);
  source.registry();
  expect(lines.filter(({ message }) => String(message).startsWith('file edit ignored'))).toMatchObject([
    { workspace: 'test', campaign: 'b', name: 'After' },
  ]);
  source.stop();
});

test('ignores releases in a workspace with file campaigns', async () => {
  await release('b', 'B');
  const source = await follow({ campaigns: [aCampaign({ campaign_id: 'a', name: 'A of the file' })] });
  expect(getNames(source)).toEqual(['A of the file']);
  source.stop();
});
