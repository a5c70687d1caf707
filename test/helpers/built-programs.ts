import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'vite';
import { ROOT, sharedBuild } from './shared-build.ts';

/** Programs of tests, beside `placard`, which is the package's own. */
const PROGRAMS = {
  'service-child': 'test/helpers/service-child.ts',
  'ingest-process': 'test/ingestion/ingest-process.ts',
  'webhook-process': 'test/service/webhooks/webhook-process.ts',
};

/**
 * Returns the path of a program, built as in the package, once for all test files. A process starts in 0.1 s of CPU time from it, and
 * in 0.8 s from the source.
 */
export const getProgram = async (name: 'placard' | keyof typeof PROGRAMS): Promise<string> => {
  const sources = ['src/**', ...Object.values(PROGRAMS), 'package.json', 'vite.config.ts'];
  const folder = await sharedBuild(['programs', PROGRAMS], sources, async (target) => {
    await build({
      root: ROOT,
      configFile: join(ROOT, 'vite.config.ts'),
      mode: 'production',
      logLevel: 'error',
      build: { outDir: join(target, 'dist'), lib: { entry: PROGRAMS } },
    });
    // The service reads its version from it.
    await copyFile(join(ROOT, 'package.json'), join(target, 'package.json'));
  });
  return join(folder, 'dist', `${name}.js`);
};
