import { join } from 'node:path';
import { build } from 'vite';
import { ROOT, sharedBuild } from './shared-build.ts';

/** Builds the Studio's pages, once for all test files, and returns their folder. */
export const buildStudioPages = (): Promise<string> =>
  sharedBuild('studio', ['src/**', 'vite.config.ts'], async (folder) => {
    // As `npm run build` has it: vitest says `test`, which would bring every component's place in the source along.
    const { NODE_ENV } = process.env;
    process.env['NODE_ENV'] = 'production';
    await build({
      root: join(ROOT, 'src/studio/pages'),
      configFile: join(ROOT, 'vite.config.ts'),
      mode: 'studio',
      logLevel: 'error',
      build: { outDir: folder, emptyOutDir: true },
    }).finally(() => {
      process.env['NODE_ENV'] = NODE_ENV;
    });
  });
