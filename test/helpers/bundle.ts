import { resolve } from 'node:path';
import { build } from 'vite';
import { ROOT, sharedBuild } from './shared-build.ts';

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

/**
 * Builds entries as ES modules with shared chunks, as an application's bundler does. Returns the folder with
 * `<name>.js` each and `chunks/`. Paths are relative to the repository root.
 */
export const bundle = async (
  entries: Record<string, string>,
  options: { minify?: boolean } = {},
): Promise<string> => {
  const minify = options.minify ?? false;
  const sources = ['src/**', ...Object.values(entries)];
  return sharedBuild([entries, minify], sources, (folder) =>
    build({
      root: ROOT,
      configFile: false,
      logLevel: 'error',
      define: { 'process.env.NODE_ENV': '"production"' },
      build: {
        outDir: folder,
        emptyOutDir: false,
        target: 'es2022',
        minify: minify && 'oxc',
        sourcemap: false,
        modulePreload: false,
        rolldownOptions: {
          // As in the package, whose deferred chunks share no constant.
          optimization: { inlineConst: true },
          input: Object.fromEntries(
            Object.entries(entries).map(([name, path]) => [name, resolve(ROOT, path)]),
          ),
          preserveEntrySignatures: 'strict',
          output: { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
        },
      },
    }),
  );
};
