import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openStore, type Store } from '../../../src/service/index.ts';
import { followReleases } from '../../../src/service/workspace/follow-releases.ts';
import { parseWorkspace } from '../../../src/service/workspace/parse-workspace.ts';
import { createRegistry } from '../../../src/service/workspace/registry.ts';
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

const registryOf = (members: Record<string, unknown>) =>
  createRegistry([{ workspace: parseWorkspace(aWorkspace(members)), source: 'test' }]);
const follow = (members: Record<string, unknown>, studio = store.studio, pollMs = POLL_MS) => {
  const registry = registryOf(members);
  const source = { registry: () => registry, stop: vi.fn() };
  return followReleases(source, studio, { log: recordingLog(lines), pollMs });
};
const release = (campaignId: string, name: string, basedOn = 0) =>
  store.studio.addRelease({
    workspaceId: 'test',
    campaignId,
    campaign: aCampaign({ campaign_id: campaignId, name }),
    basedOn,
    author: 'Mia',
    note: '',
    createdAtMs: 1,
    liveAtMs: 1,
  });
const namesOf = (source: { registry(): ReturnType<typeof registryOf> }) =>
  source.registry().workspaces[0]!.campaigns.map(({ name }) => name);

describe('a workspace whose campaigns come from the Studio', () => {
  const STUDIO = {
    campaigns_from: 'studio',
    campaigns: [aCampaign({ campaign_id: 'a', name: 'A of the file' })],
  };

  test('begins with what is released, the rest of the file first', async () => {
    await release('b', 'B');
    const source = await follow(STUDIO);
    expect(namesOf(source)).toEqual(['A of the file', 'B']);
    source.stop();
  });

  test('follows a release by itself, and keeps the place of the campaign in the file', async () => {
    const source = await follow(STUDIO);
    await release('b', 'B');
    await release('a', 'A of the Studio');
    await expect.poll(() => namesOf(source)).toEqual(['A of the Studio', 'B']);
    source.stop();
  });

  test('is the same object until something changes, so that what is compiled is kept', async () => {
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
    const { workspaces, holderOf } = source.registry();
    expect(holderOf(workspaces[0]!.apiKeys[0]!.hash)?.workspace).toBe(workspaces[0]);
    source.stop();
  });

  test('keeps the last releases while the database is away, and says so once', async () => {
    await release('a', 'A');
    let isAway = false;
    const studio = {
      ...store.studio,
      liveReleases: (...words: Parameters<typeof store.studio.liveReleases>) =>
        isAway ? Promise.reject(new Error('away')) : store.studio.liveReleases(...words),
    };
    const source = await follow(STUDIO, studio);
    isAway = true;
    const warnings = () =>
      lines.filter(({ message }) => message === 'releases not read: the last ones stay in use');
    await expect.poll(() => warnings().length).toBe(1);
    expect(namesOf(source)).toEqual(['A']);
    isAway = false;
    await release('a', 'A, again', 1);
    await expect.poll(() => namesOf(source)).toEqual(['A, again']);
    expect(warnings()).toHaveLength(1);
    source.stop();
  });

  test('cannot be served where the database cannot be read at the start', async () => {
    const studio = { ...store.studio, liveReleases: () => Promise.reject(new Error('away')) };
    await expect(follow(STUDIO, studio)).rejects.toThrow('away');
  });
});

test('a workspace whose file is the truth takes no release', async () => {
  await release('b', 'B');
  const source = await follow({ campaigns: [aCampaign({ campaign_id: 'a', name: 'A of the file' })] });
  expect(namesOf(source)).toEqual(['A of the file']);
  source.stop();
});
