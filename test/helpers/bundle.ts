import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const PREFIX = 'placard-bundle-';
const OLD_MS = 24 * 60 * 60 * 1000;

/** Browser entries by the name under which test pages import them: `/placard/<name>.js`. */
export const BROWSER_ENTRIES: Record<string, string> = {
  index: 'src/client/index.ts',
  element: 'src/element/index.ts',
  react: 'src/react/index.ts',
  vue: 'src/vue/index.ts',
  devtools: 'src/devtools/index.ts',
  templates: 'src/templates/index.ts',
  webview: 'src/webview/index.ts',
  testing: 'src/testing/index.ts',
};

const filesOf = async (folder: string): Promise<string[]> =>
  (await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

/** Named by a hash of the sources, so that all test files share one build. */
const fingerprint = async (entries: Record<string, string>, minify: boolean): Promise<string> => {
  const hash = createHash('sha256').update(JSON.stringify([entries, minify]));
  for (const file of [...(await filesOf('src')), join(ROOT, 'package-lock.json')]) {
    hash.update(file).update(await readFile(file));
  }
  for (const entry of Object.values(entries)) {
    if (!entry.startsWith('src/')) hash.update(await readFile(resolve(ROOT, entry)));
  }
  return hash.digest('hex').slice(0, 16);
};

/** Removes builds that were not used for a day. */
const removeOldBundles = async (): Promise<void> => {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(PREFIX)) continue;
    const folder = join(tmpdir(), name);
    // Another test process may have removed it.
    const used = await stat(folder).catch(() => undefined);
    if (used && Date.now() - used.mtimeMs > OLD_MS) await rm(folder, { recursive: true, force: true });
  }
};

/**
 * Builds entries as ES modules with shared chunks, as an application's bundler does. Returns the folder with
 * `<name>.js` each and `chunks/`. Paths are relative to the repository root.
 */
export const bundle = async (
  entries: Record<string, string>,
  options: { minify?: boolean } = {},
): Promise<string> => {
  const minify = options.minify ?? false;
  const folder = join(tmpdir(), `${PREFIX}${await fingerprint(entries, minify)}`);
  if (existsSync(folder)) {
    // Marks the build as used before another test process removes old ones.
    await utimes(folder, new Date(), new Date());
    return folder;
  }
  await removeOldBundles();
  const partial = await mkdtemp(`${folder}-`);
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"' },
    build: {
      outDir: partial,
      emptyOutDir: false,
      target: 'es2022',
      minify: minify && 'oxc',
      sourcemap: false,
      modulePreload: false,
      rolldownOptions: {
        input: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, resolve(ROOT, path)])),
        preserveEntrySignatures: 'strict',
        output: { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
      },
    },
  });
  // If two test processes made the same build, the first rename wins.
  await rename(partial, folder).catch(async (error) => {
    await rm(partial, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  });
  return folder;
};
