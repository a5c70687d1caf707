import { join } from 'node:path';
import { build } from 'vite';
import { startDemo } from '../../demo/server/start-demo.ts';
import { createStaticFiles } from '../../demo/server/static-files.ts';
import { silentLog } from '../../src/service/index.ts';
import { ROOT, sharedBuild } from './shared-build.ts';
import { buildStudioPages } from './studio-pages.ts';

const buildDemo = (): Promise<string> =>
  sharedBuild('demo', ['{src,demo}/**', 'vite.config.ts'], (folder) =>
    build({
      root: join(ROOT, 'demo'),
      configFile: join(ROOT, 'vite.config.ts'),
      mode: 'demo',
      logLevel: 'error',
      build: { outDir: folder, emptyOutDir: true },
    }),
  );

export interface RunningDemo {
  url: string;
  studioUrl: string;
  /** Folder of the built pages. */
  folder: string;
  /** Returns the headline that the visitor gets for a placement now, or `null`. */
  headlineFor(userId: string, placementId: string): Promise<string | null>;
  stop(): Promise<void>;
}

/** The demo of `npm start` on a free port with an in-memory store; without sample history by default. */
export const runDemo = async ({
  db = ':memory:',
  workspaceFile = join(ROOT, 'demo/workspace.json'),
  makesMonth = false,
}: {
  db?: string;
  workspaceFile?: string;
  makesMonth?: boolean;
} = {}): Promise<RunningDemo> => {
  const folder = await buildDemo();
  const listening = await startDemo({
    workspaceFile,
    db,
    makesMonth,
    port: 0,
    studioPort: 0,
    studioPages: await buildStudioPages(),
    host: '127.0.0.1',
    log: silentLog,
    pages: createStaticFiles(folder),
  });
  return {
    url: listening.url,
    studioUrl: listening.studioUrl,
    folder,
    async headlineFor(userId, placementId) {
      const response = await fetch(`${listening.url}/v1/device-messaging/banners/sync`, {
        method: 'POST',
        headers: { authorization: 'Bearer demo-client-key', 'content-type': 'application/json' },
        body: JSON.stringify({
          external_user_id: userId,
          app_id: '3f1d8c52-90ab-4c7e-b1d2-6a5e4f3c2b1a',
          app_version: '1.0.0',
          placements: [placementId],
        }),
      });
      const { banners } = await response.json();
      return banners[placementId]?.properties.headline.value ?? null;
    },
    stop: () => listening.stop(),
  };
};
