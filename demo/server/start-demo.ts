import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname } from 'node:path';
import {
  createService,
  type Listening,
  type Log,
  listen,
  openStore,
  watchWorkspaces,
} from '../../src/service/index.ts';
import { createDemoEndpoints } from './demo-endpoints.ts';
import { SERVER_KEY } from './keys.ts';
import { createShopActions } from './shop-actions.ts';
import { createStudioData } from './studio-data.ts';

export interface DemoOptions {
  workspaceFile: string;
  /** SQLite file; its folder is made. */
  db: string;
  port: number;
  host: string;
  log: Log;
  /** Called after an edit of the workspace file, with the problem where it cannot be used. */
  onReload?: (problem: Error | null) => void;
  /** Serves the pages; answers false for what is not theirs. */
  pages: (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;
}

export interface RunningDemo extends Listening {
  /** Whether the workspace has the demo's keys: without them the shop's pages and its visitors have nothing to do. */
  hasDemoKeys: boolean;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest();

/** The service, the demo's own endpoints and its pages on one port. */
export const startDemo = async ({
  workspaceFile,
  db,
  port,
  host,
  log,
  onReload = () => undefined,
  pages,
}: DemoOptions): Promise<RunningDemo> => {
  if (db !== ':memory:' && !/^postgres(ql)?:/.test(db)) mkdirSync(dirname(db), { recursive: true });
  const store = await openStore(db);
  const workspaces = watchWorkspaces(workspaceFile, { log, onReload });
  const service = createService({ workspaces, store, log });
  const shop = createShopActions(service);
  const endpoints = createDemoEndpoints({ shop, studio: createStudioData(store, workspaceFile) });
  try {
    const hasDemoKeys = workspaces.registry().holderOf(sha256(SERVER_KEY)) !== undefined;
    if (hasDemoKeys) await shop.seed();
    const listening = await listen(service, {
      port,
      host,
      log,
      files: async (request, response) => (await endpoints(request, response)) || pages(request, response),
    });
    return { ...listening, hasDemoKeys };
  } catch (error) {
    await service.close();
    throw error;
  }
};
