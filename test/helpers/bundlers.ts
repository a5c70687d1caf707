import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build as buildWithEsbuild } from 'esbuild';
import { build as buildWithVite, type Rolldown } from 'vite';
import webpack, { type Stats } from 'webpack';

/** In the chunk that only a page with `debug: true` loads. */
const OF_DEBUG = '[placard] hello';
/** In the others that only some pages load: of the inspector with its previews, of visitors. */
const OF_SOME_PAGES = [OF_DEBUG, 'syncWaitsUntil', 'The visitor could not be joined'];

export interface BundleSize {
  /** Bytes, minified and gzipped, of the entry and every chunk it imports statically: what loads first. */
  entry: number;
  /** Of all chunks together that a page loads without `debug`. */
  all: number;
  /** Of the chunks of an ordinary visit: a cached banner, a sync, an impression, a click, and their delivery. */
  ordinary: number;
  /** Each chunk by its file name. */
  chunks: Record<string, number>;
}

const gzipped = (text: string): number => gzipSync(text, { level: 9 }).length;

/** Weighs a module that imports packages which are installed in `folder`. `code` is what the application writes. */
export const measureBundle = async (
  code: string,
  folder: string,
  bundler: BundlerName = 'vite',
): Promise<BundleSize> => {
  const application = await mkdtemp(join(folder, 'measured-'));
  try {
    await writeFile(join(application, 'application.js'), code);
    const chunks = await BUNDLERS[bundler](application);
    const sizes = new Map(chunks.map(({ name, code }) => [name, gzipped(code)]));
    const first = new Set<string>();
    const visit = (name: string): void => {
      const chunk = chunks.find((each) => each.name === name);
      if (chunk === undefined || first.has(name)) return;
      first.add(name);
      chunk.imports.forEach(visit);
    };
    for (const { name, isEntry } of chunks) if (isEntry) visit(name);
    const sum = (names: Iterable<string>) =>
      [...names].reduce((total, name) => total + (sizes.get(name) ?? 0), 0);
    const without = (marks: string[]) =>
      sum(
        chunks.filter(({ code: text }) => !marks.some((mark) => text.includes(mark))).map(({ name }) => name),
      );
    const [all, ordinary] = [without([OF_DEBUG]), without(OF_SOME_PAGES)];
    return { entry: sum(first), all: all!, ordinary: ordinary!, chunks: Object.fromEntries(sizes) };
  } finally {
    await rm(application, { recursive: true });
  }
};

/** The version of an installed package, for tables. */
export const versionOf = async (name: string, folder: string): Promise<string> =>
  JSON.parse(await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version;

/** What an application bundles otherwise, or has anyway. */
const HOST_MODULES = ['react', 'react-dom', 'vue'];

/** One file of a bundle, minified. */
export interface Chunk {
  /** Without the hash of its content, which changes with each byte. */
  name: string;
  code: string;
  isEntry: boolean;
  /** Names of the chunks that are loaded with it; those of `import()` are not among them. */
  imports: string[];
}

/** Bundles `application.js` of a folder for browsers, as an application would, at the bundler's own settings. */
type Bundler = (folder: string) => Promise<Chunk[]>;

const vite: Bundler = async (folder) => {
  const output = (await buildWithVite({
    root: folder,
    configFile: false,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"' },
    build: {
      write: false,
      target: 'es2022',
      // A library build leaves out Vite's own preload helper, which other bundlers do not have either.
      lib: { entry: 'application.js', formats: ['es'], fileName: 'application' },
      reportCompressedSize: false,
      rolldownOptions: {
        external: HOST_MODULES,
        output: { minify: true, entryFileNames: '[name].js', chunkFileNames: '[name]-hashhash.js' },
      },
    },
  })) as Rolldown.RolldownOutput[];
  return output[0]!.output
    .filter((file) => file.type === 'chunk')
    .map(({ fileName, code, isEntry, imports }) => ({ name: fileName, code, isEntry, imports }));
};

const esbuild: Bundler = async (folder) => {
  const { metafile, outputFiles } = await buildWithEsbuild({
    absWorkingDir: folder,
    entryPoints: ['application.js'],
    outdir: 'out',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    write: false,
    metafile: true,
    logLevel: 'error',
    external: HOST_MODULES,
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  return outputFiles.map(({ path, text }) => {
    const name = path.slice(folder.length + 1);
    const { entryPoint, imports } = metafile.outputs[name]!;
    const isLoaded = (kind: string) => kind === 'import-statement';
    return {
      name,
      code: text,
      isEntry: entryPoint === 'application.js',
      imports: imports.filter(({ kind, external }) => isLoaded(kind) && !external).map(({ path: to }) => to),
    };
  });
};

const compile = (folder: string): Promise<Stats> =>
  new Promise((resolve, reject) => {
    const compiler = webpack({
      context: folder,
      entry: './application.js',
      mode: 'production',
      target: ['web', 'es2022'],
      output: { path: join(folder, 'webpack'), chunkFilename: '[id].js' },
      externals: Object.fromEntries(HOST_MODULES.map((name) => [name, name])),
      performance: false,
    });
    compiler?.run((error, stats) => {
      compiler.close(() => undefined);
      if (error || !stats || stats.hasErrors()) reject(error ?? new Error(stats?.toString('errors-only')));
      else resolve(stats);
    });
  });

const webpackBundler: Bundler = async (folder) => {
  const { compilation } = await compile(folder);
  const files = [...compilation.chunks].flatMap((chunk) =>
    [...chunk.files].map((name) => ({ name, isEntry: chunk.canBeInitial() })),
  );
  return Promise.all(
    files.map(async ({ name, isEntry }) => ({
      name,
      code: await readFile(join(folder, 'webpack', name), 'utf8'),
      isEntry,
      imports: [],
    })),
  );
};

export const BUNDLERS = { vite, esbuild, webpack: webpackBundler } satisfies Record<string, Bundler>;
export type BundlerName = keyof typeof BUNDLERS;
