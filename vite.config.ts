import { globSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { dts } from 'rolldown-plugin-dts';
import { defineConfig, type Plugin } from 'vite';
import type {} from 'vitest/config';
import manifest from './package.json' with { type: 'json' };
import { changesGlobals } from './test/helpers/isolation.ts';
import { measureSlowdown, patience } from './test/helpers/patience.ts';

/** Many tests wait for a time-out or a browser, so that one more than there are cores keeps all of them busy. */
const maxWorkers = Math.min(availableParallelism() + 1, 4);
/** How much longer random tests run: see `times` in test/helpers/property.ts. */
const long = Number(process.env['PLACARD_LONG'] ?? 1);

if (process.env['VITEST']) process.env['PLACARD_SLOWDOWN'] ??= measureSlowdown().toFixed(1);

const inNode = (name: string, isolate: boolean, include: string[]) => ({
  test: {
    name,
    environment: 'node' as const,
    include,
    isolate,
    maxWorkers,
    // Thousands of transactions that are synced to a disk, or spread over a cluster, beside two other test files.
    testTimeout: patience(300_000 * long),
    // Packing builds everything, and may share the machine.
    hookTimeout: patience(180_000),
  },
});

/** Test files of a worker share its modules, which saves half a second of CPU time per file, unless a file changes globals. */
const inNodeProjects = () => {
  const files = globSync(
    'test/{protocol,server,service,ingestion,studio,mcp,telemetry,cli,testing,package}/**/*.test.ts',
  );
  const { isolated = [], shared = [] } = Object.groupBy(files, (path) =>
    changesGlobals(path) ? 'isolated' : 'shared',
  );
  return [inNode('node', false, shared), inNode('node-isolated', true, isolated)];
};

const inBrowsers = (name: string, files: { include: string[]; exclude?: string[] }) => ({
  test: {
    name,
    environment: 'node' as const,
    ...files,
    // Only pages change their globals, not the process of a test.
    isolate: false,
    testTimeout: patience(120_000 * long),
    hookTimeout: patience(120_000),
    // After the others: they take all of a small machine, and a browser's timers would be late.
    sequence: { groupOrder: 1 },
    maxWorkers,
    // Of the scenarios that all browsers play, which mostly wait.
    maxConcurrency: 4,
  },
});

/** Entry points of the package, by the name of their file in `dist/`. */
const entries = {
  index: 'src/client/index.ts',
  element: 'src/element/index.ts',
  'element-react': 'src/element/react.ts',
  'element-vue': 'src/element/vue.ts',
  react: 'src/react/index.ts',
  vue: 'src/vue/index.ts',
  devtools: 'src/devtools/index.ts',
  templates: 'src/templates/index.ts',
  webview: 'src/webview/index.ts',
  'service-worker': 'src/client/service-worker.ts',
  server: 'src/server/index.ts',
  service: 'src/service/public.ts',
  testing: 'src/testing/index.ts',
  placard: 'src/cli/placard.ts',
  // Threads and processes of their own: the service and a backup start them by their files.
  'sqlite-writer': 'src/service/store/sqlite/writer-thread.ts',
  'sqlite-checkpoint': 'src/service/store/sqlite/checkpoint-thread.ts',
  'sqlite-job': 'src/service/store/sqlite/job-thread.ts',
  'ingestion-files': 'src/ingestion/files/stage-process.ts',
};

const inRepository = (path: string) => fileURLToPath(new URL(path, import.meta.url));

const isInPackages = (names: string[]) => (id: string) =>
  names.some((name) => id === name || id.startsWith(`${name}/`));
const isOfNode = (id: string) => id.startsWith('node:') || builtinModules.includes(id);
/** What an application installs beside the package; all else that the service and the commands use is inside it. */
const isInstalledBeside = isInPackages(
  Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
);

/** The JSON Schema of a workspace file, for editors: made from the schema that checks. */
const workspaceSchema: Plugin = {
  name: 'workspace-schema',
  async generateBundle() {
    const { workspaceJsonSchema } = await import('./src/service/workspace/file-schema.ts');
    const source = `${JSON.stringify(workspaceJsonSchema(), null, 2)}\n`;
    this.emitFile({ type: 'asset', fileName: 'workspace.schema.json', source });
  },
};

/** Comments in the styles of templates and devtools are for readers of the source: in a page they would weigh 6 % of the templates. */
const plainStyles: Plugin = {
  name: 'plain-styles',
  enforce: 'pre',
  transform: (code, id) =>
    id.startsWith(inRepository('src'))
      ? code.replace(/\/\* css \*\/ `[^`]*`/g, (css) =>
          css
            .replace('/* css */ ', '')
            .replace(/\/\*.*?\*\//gs, '')
            .replace(/\s+/g, ' '),
        )
      : null,
};

const library = {
  outDir: 'dist',
  emptyOutDir: false,
  target: 'es2022',
  minify: false,
  // Packages for Node are looked up as Node does it, and stay on its own modules. Entries for a browser have none of either.
  ssr: true,
  lib: { entry: entries, formats: ['es' as const] },
  license: { fileName: 'licenses.md' },
  rolldownOptions: {
    // Two chunks that import the same constant share nothing then.
    optimization: { inlineConst: true },
    plugins: [workspaceSchema],
    external: (id: string) => isOfNode(id) || isInstalledBeside(id),
    // For frameworks with server components; a directive in the source would be warned of.
    output: {
      banner: ({ name }: { name: string }) => (name === 'react' ? "'use client';" : ''),
      chunkFileNames: 'shared-[name].js',
    },
  },
};

/** Old libraries extend `Object.prototype`, and the bundler's helper would take such a member for an export of a module. */
const ownExportsOnly = {
  name: 'own-exports-only',
  renderChunk: (code: string) =>
    code.replaceAll('for (var name in all)', 'for (var name of Object.keys(all))'),
};

/** One file for a plain `<script>`: everything inside, one global. */
const script = (entry: string, fileName: string) => ({
  outDir: 'dist',
  emptyOutDir: false,
  target: 'es2022',
  lib: { entry, formats: ['iife' as const], name: 'Placard', fileName: () => fileName },
  license: { fileName: 'licenses-script.md' },
  rolldownOptions: { plugins: [ownExportsOnly] },
});

const typed = new Set(Object.values(manifest.exports).map((target) => Object(target).types));

/** One declaration file an entry, of what it exports and nothing else, from what the compiler wrote for each module. */
const declarations = {
  outDir: 'dist',
  emptyOutDir: false,
  lib: {
    entry: Object.fromEntries(
      Object.entries(entries)
        .filter(([name]) => typed.has(`./dist/${name}.d.ts`))
        .map(([name, path]) => [name, path.replace(/^src(.*)\.ts$/, 'dist/declarations$1.d.ts')]),
    ),
    formats: ['es' as const],
  },
  rolldownOptions: {
    external: (id: string) => !/^[./]/.test(id),
    output: { chunkFileNames: 'shared-[name].d.ts' },
  },
};

const demo = {
  outDir: '../dist/demo',
  emptyOutDir: true,
  target: 'es2022',
  // `light-dark()` as it is written: what a build makes of it for older engines loses nested colour schemes.
  cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
  // Whole paths: a build looks for them from the repository, the dev server from its root, which is the demo.
  rolldownOptions: { input: inRepository('demo/index.html') },
};

/** The Studio's pages, which the service serves from the package. */
const studio = {
  outDir: '../../../dist/studio-pages',
  emptyOutDir: true,
  target: 'es2022',
  // Written by code at run time they would need a policy that allows it.
  assetsInlineLimit: 0,
  modulePreload: { polyfill: false },
  cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
  license: { fileName: 'licenses.md' },
  rolldownOptions: {
    input: ['src/studio/pages/index.html', 'src/studio/pages/preview.html'].map(inRepository),
    optimization: { inlineConst: true },
  },
};

export default defineConfig(({ command, mode }) => {
  if (mode === 'demo') return { root: 'demo', base: './', build: demo, plugins: [plainStyles] };
  if (mode === 'studio') return { root: 'src/studio/pages', build: studio };
  if (mode === 'script')
    return { build: script('src/client/index.ts', 'placard.global.js'), plugins: [plainStyles] };
  if (mode === 'script-all')
    return { build: script('src/script/index.ts', 'placard-all.global.js'), plugins: [plainStyles] };
  if (mode === 'declarations') {
    return {
      build: declarations,
      plugins: [dts({ dtsInput: true, emitDtsOnly: true, generator: 'oxc', tsconfig: false })],
      oxc: { exclude: [/\.js$/, /\.d\.ts$/] },
    };
  }
  return {
    build: library,
    // On Node a package is what its `main` says; `module` is for bundlers, and can differ. Tests import packages as Node does.
    ...(command === 'build' && {
      plugins: [plainStyles],
      ssr: { noExternal: true, resolve: { mainFields: ['main'] } },
    }),
    test: {
      globalSetup: ['test/helpers/shared-postgres.ts'],
      testTimeout: patience(60_000 * long),
      // A second, the default, is short for a browser or a database.
      expect: { poll: { timeout: patience(30_000) } },
      reporters: [
        'default',
        ...(process.env['GITHUB_ACTIONS'] ? ['github-actions'] : []),
        './test/helpers/skipped-reporter.ts',
      ],
      // Tests start the service again and again, and half of a start is compiling it.
      env: { NODE_COMPILE_CACHE: inRepository('node_modules/.cache/compiled') },
      projects: [
        {
          test: {
            name: 'dom',
            environment: './test/helpers/happy-dom.ts',
            include: [
              'test/{client,templates,element,react,vue,webview,devtools}/**/*.test.{ts,tsx}',
              // Beside it are tests of the Studio's server, which are of Node.
              'test/studio/pages/*.test.tsx',
            ],
            maxWorkers,
          },
        },
        ...(process.env['VITEST'] ? inNodeProjects() : []),
        // Vitest starts the projects of a group in the order of their names. The scenarios that all browsers play are three long
        // files, which would leave the other cores with nothing to do if they came last.
        inBrowsers('all-browsers', { include: ['test/e2e/engines-*.test.ts'] }),
        inBrowsers('browser', {
          include: ['test/e2e/**/*.test.ts'],
          exclude: ['test/e2e/engines-*.test.ts'],
        }),
      ],
    },
  };
});
