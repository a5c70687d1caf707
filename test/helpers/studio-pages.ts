import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The Studio's pages, built into a folder of their own. */
export const buildStudioPages = async (): Promise<{ folder: string; remove(): Promise<void> }> => {
  const folder = await mkdtemp(join(tmpdir(), 'placard-studio-'));
  await build({
    root: join(ROOT, 'src/studio/pages'),
    configFile: join(ROOT, 'vite.config.ts'),
    mode: 'studio',
    logLevel: 'error',
    build: { outDir: folder, emptyOutDir: true },
  });
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
};
