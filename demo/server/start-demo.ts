import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname } from 'node:path';
import { startIngestion } from '../../src/ingestion/index.ts';
import { readSecret } from '../../src/secrets/index.ts';
import {
  createService,
  type Listening,
  type Log,
  listen,
  openStore,
  startWebhooks,
  watchReleases,
  watchWorkspaces,
} from '../../src/service/index.ts';
import {
  builtPages,
  createStudio,
  listenStudio,
  readAlerts,
  startRolloutStops,
} from '../../src/studio/index.ts';
import { SERVER_KEY } from './keys.ts';
import { hasMonth, isUnused, makeMonth } from './month/make-month.ts';
import { atSite, withAbsoluteImages } from './own-address.ts';
import { createDemoEndpoints, createShopActions } from './shop-endpoints.ts';

interface DemoOptions {
  workspaceFile: string;
  /** Path of the SQLite file. The demo creates its folder. */
  db: string;
  port: number;
  studioPort: number;
  host: string;
  /** Whether to add sample data to an unused database. Default: `false`. */
  makesMonth?: boolean;
  log: Log;
  /** Called after an edit of the workspace file, with the error if it is invalid. */
  onReload?: (problem: Error | null) => void;
  /** Serves the pages. Returns `false` for other paths. */
  pages: (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;
  /** Folder of the built Studio pages. Default: the output of `npm start`. */
  studioPages?: string;
}

export interface RunningDemo extends Listening {
  studioUrl: string;
  /** Whether the workspace has the demo's keys, which the shop and its visitors need. */
  hasDemoKeys: boolean;
  /** Whether the database has sample data, from this or an earlier start. */
  isMadeUp: boolean;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest();

/** Starts the service with the shop on one port and the Studio on another. */
export const startDemo = async ({
  workspaceFile,
  db,
  port,
  studioPort,
  host,
  makesMonth = false,
  log,
  onReload = () => undefined,
  pages,
  studioPages,
}: DemoOptions): Promise<RunningDemo> => {
  if (db !== ':memory:' && !/^postgres(ql)?:/.test(db)) mkdirSync(dirname(db), { recursive: true });
  const store = await openStore(db);
  const watched = watchWorkspaces(workspaceFile, { log, onReload });
  const workspaces = await watchReleases(watched, store.studio, { log });
  const service = createService({ workspaces, store, log });
  const stopIngestion = startIngestion({
    store,
    workspaces: () => workspaces.registry().workspaces,
    log,
  });
  const shop = createShopActions(service);
  const endpoints = createDemoEndpoints(shop);
  try {
    if (makesMonth && (await isUnused(store))) {
      await makeMonth({ store, workspaces: watched, endMs: Date.now(), log });
      await workspaces.refresh();
    }
    const isMadeUp = await hasMonth(store);
    const hasDemoKeys = workspaces.registry().findApiKey(sha256(SERVER_KEY)) !== undefined;
    if (hasDemoKeys) await shop.seed();
    const listening = await listen(withAbsoluteImages(service), {
      port,
      host,
      log,
      files: async (request, response) => (await endpoints(request, response)) || pages(request, response),
    });
    const located = atSite(workspaces, () => listening.url, isMadeUp);
    const stopWebhooks = startWebhooks({
      store,
      workspaces: () => located.registry().workspaces,
      readAlerts: (workspace) => readAlerts(workspace, store, Date.now()),
      readSecret,
      privateHosts: new Set([new URL(listening.url).hostname]),
      onAttempt: service.countWebhookAttempt,
      log,
    });
    const endRolloutStops = startRolloutStops({ workspaces, store, log });
    const studio = createStudio({
      workspaces: located,
      store,
      service,
      serviceUrl: listening.url,
      pages: studioPages ?? builtPages(),
      log,
    });
    try {
      const { url, stop } = await listenStudio(studio, { port: studioPort, host, log });
      return {
        ...listening,
        studioUrl: url,
        hasDemoKeys,
        isMadeUp,
        stop: async () => {
          await stop();
          await Promise.all([stopIngestion(), stopWebhooks(), endRolloutStops()]);
          await listening.stop();
        },
      };
    } catch (error) {
      await Promise.all([stopIngestion(), stopWebhooks(), endRolloutStops()]);
      await listening.stop();
      throw error;
    }
  } catch (error) {
    await stopIngestion();
    await service.close();
    throw error;
  }
};
