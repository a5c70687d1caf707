import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { runIntegration } from '../../src/ingestion/run-integration.ts';
import { exportLines, type IngestionRun, openStore, type Store } from '../../src/service/index.ts';
import { parseWorkspace } from '../../src/service/workspace/parse-workspace.ts';
import { aWorkspace } from '../helpers/a-workspace.ts';

export const W = 'test';
export const ID = 'crm';

export const aFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'placard-ingest-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

export const workspaceWith = (source: Record<string, unknown>, folder: string, more = {}) =>
  parseWorkspace(
    aWorkspace({
      integrations: [{ integration_id: ID, source, ...more }],
      blocked_external_ids: ['blocked'],
    }),
    'workspace.json',
    () => null,
    folder,
  );

export const getState = async (store: Pick<Store, 'ingestion'>) =>
  (await store.ingestion.states(W)).find(({ integrationId }) => integrationId === ID) ?? null;

/** Runs the integration once, as the scheduler does. */
export const ingest = async (
  store: Pick<Store, 'write' | 'ingestion'>,
  source: Record<string, unknown>,
  folder: string,
  { now = Date.now, signal = new AbortController().signal } = {},
): Promise<IngestionRun> => {
  const workspace = workspaceWith(source, folder);
  const state = await getState(store);
  const lease = { workspaceId: W, integrationId: ID, state, trigger: 'schedule' as const };
  const acquired = await store.ingestion.acquireLease({ ...lease, nowMs: now(), leaseMs: 1_000 });
  if (!acquired) throw new Error('The integration is running');
  const { run } = acquired;
  const ended = await runIntegration({
    store,
    workspace,
    source: workspace.integrations![0]!.source!,
    ...acquired,
    holdsLease: () => store.ingestion.renew(run, now() + 1_000),
    now,
    signal,
  });
  await store.ingestion.finish(ended);
  return ended;
};

export const aStore = async (address = ':memory:'): Promise<Store> => {
  const store = await openStore(address);
  onTestFinished(() => store.close());
  return store;
};

/** Exported rows of the workspace. */
export const exported = async (
  store: Store,
  kind: 'users' | 'events',
): Promise<Record<string, unknown>[]> => {
  const lines: Record<string, unknown>[] = [];
  for await (const line of exportLines(store, kind, W)) {
    lines.push(JSON.parse(JSON.stringify(line)) as Record<string, unknown>);
  }
  return lines;
};

export const getRejects = async (store: Pick<Store, 'ingestion'>) =>
  (await store.ingestion.rejects(W, ID, { limit: 1_000 })).map(({ key, reason }) => [key, reason]);
