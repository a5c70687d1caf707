import { expect, test } from 'vitest';
import { createGetBannerIds } from '../../../src/service/campaigns/banner-id.ts';
import { openStore } from '../../../src/service/store/index.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { createEnsureWorkspace } from '../../../src/service/store/workspace-reads.ts';
import { aDatabase } from '../../helpers/postgres.ts';

/** In-memory table that can be unavailable. */
const aTable = () => {
  const rows = new Map<string, string>();
  const table = { isAway: false };
  const ask = async <T>(answer: () => T) => {
    if (table.isAway) throw new Error('away');
    return answer();
  };
  const ensureWorkspace = createEnsureWorkspace((sql, [workspaceId, made]) =>
    ask(() => {
      const id = workspaceId as string;
      if (sql.startsWith('INSERT') && !rows.has(id)) rows.set(id, made as string);
      return rows.has(id) ? [{ secret: rows.get(id) }] : [];
    }),
  );
  return { table, rows, ensureWorkspace };
};

test('returns a cached secret during an outage, and reads others again', async () => {
  const { table, rows, ensureWorkspace } = aTable();
  rows.set('known', 'secret');
  expect(await ensureWorkspace('known')).toBe('secret');
  table.isAway = true;
  expect(await ensureWorkspace('known')).toBe('secret');
  await expect(ensureWorkspace('new')).rejects.toThrow('away');
  table.isAway = false;
  const made = await ensureWorkspace('new');
  expect(made).toMatch(/^[0-9a-f]{64}$/);
  expect(await ensureWorkspace('new')).toBe(made);
});

test('returns the same secret to replicas that create one at once', async () => {
  const url = await aDatabase();
  const stores = [await openStore(url), await openStore(url), await openStore(url)];
  const secrets = await Promise.all(stores.map((store) => store.ensureWorkspace('demo')));
  expect(new Set(secrets).size).toBe(1);
  for (const store of stores) await store.close();
});

test('creates the banner IDs of a workspace once, from its secret', async () => {
  const [first, second] = ['first', 'second'].map((secret) =>
    createGetBannerIds({ ensureWorkspace: async () => secret } as unknown as Store),
  );
  const ids = await first!('demo');
  expect(await first!('demo')).toBe(ids);
  expect((await second!('demo')).getUserTag('kim')).not.toBe(ids.getUserTag('kim'));
});
