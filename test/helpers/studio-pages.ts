import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The Studio's pages, built into a folder of their own. */
export const buildStudioPages = async (): Promise<{ folder: string; remove(): Promise<void> }> => {
  const folder = await mkdtemp(join(tmpdir(), 'placard-studio-'));
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
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
};
