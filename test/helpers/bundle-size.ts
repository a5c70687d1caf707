import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Rolldown } from 'vite';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** What an application bundles otherwise, or has anyway. */
const HOST_MODULES = ['react', 'react-dom', 'vue'];

export interface BundleSize {
  /** Bytes, minified and gzipped, of the entry and every chunk it imports statically: what loads first. */
  entry: number;
  /** Of all chunks together. */
  all: number;
  /** Each chunk by its file name. */
  chunks: Record<string, number>;
}

/**
 * Stands for the hash of the content in the name of a chunk. That one changes with each byte of the source, and it cannot be
 * compressed: the figures would go up and down by some bytes for nothing.
 */
const hashOf = (name: string): string => createHash('sha256').update(name).digest('base64url').slice(0, 8);

const gzipped = (text: string): number => gzipSync(text, { level: 9 }).length;

/** Builds one module as an application would and weighs it. `code` is what the application writes. */
export const measureBundle = async (code: string, folder = ROOT): Promise<BundleSize> => {
  const id = join(folder, 'application.js');
  const [output] = (await build({
    root: folder,
    configFile: false,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [
      {
        name: 'application',
        // The file is not there; its imports are looked up as if it stood in the folder.
        resolveId(source, importer) {
          if (source === id) return id;
          return importer === id && source.startsWith('/') ? resolve(folder, `.${source}`) : undefined;
        },
        load: (path) => (path === id ? code : undefined),
      },
    ],
    build: {
      write: false,
      target: 'es2022',
      // A library build leaves out Vite's own preload helper, which other bundlers do not have either.
      lib: { entry: id, formats: ['es'], fileName: 'application' },
      reportCompressedSize: false,
      rolldownOptions: {
        external: [...HOST_MODULES, ...builtinModules, /^node:/, /^react(-dom)?\//],
        output: {
          minify: true,
          entryFileNames: '[name].js',
          chunkFileNames: ({ name }) => `${name}-${hashOf(name)}.js`,
        },
      },
    },
  })) as Rolldown.RolldownOutput[];

  const files = output!.output.filter((file) => file.type === 'chunk');
  const sizes = new Map(files.map((file) => [file.fileName, gzipped(file.code)]));
  const first = new Set<string>();
  const visit = (name: string): void => {
    const file = files.find(({ fileName }) => fileName === name);
    if (file === undefined || first.has(name)) return;
    first.add(name);
    file.imports.forEach(visit);
  };
  for (const file of files) if (file.isEntry) visit(file.fileName);
  const sum = (names: Iterable<string>) =>
    [...names].reduce((total, name) => total + (sizes.get(name) ?? 0), 0);
  return { entry: sum(first), all: sum(sizes.keys()), chunks: Object.fromEntries(sizes) };
};

/** What each entry of the package weighs when everything it exports is used, by its name in `exports`. */
export const BROWSER_PACKAGE_ENTRIES: Record<string, string> = {
  '.': "import { createPlacard } from '/src/client/index.ts'; globalThis.run = createPlacard;",
  './element': "import * as all from '/src/element/index.ts'; globalThis.run = all;",
  './react': "import * as all from '/src/react/index.ts'; globalThis.run = all;",
  './vue': "import * as all from '/src/vue/index.ts'; globalThis.run = all;",
  './devtools': "import * as all from '/src/devtools/index.ts'; globalThis.run = all;",
  './templates': "import * as all from '/src/templates/index.ts'; globalThis.run = all;",
  './webview': "import * as all from '/src/webview/index.ts'; globalThis.run = all;",
};

/** The version of an installed package, for tables. */
export const versionOf = async (name: string, folder = ROOT): Promise<string> =>
  JSON.parse(await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version;
