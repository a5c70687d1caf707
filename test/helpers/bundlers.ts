import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build as buildWithEsbuild } from 'esbuild';
import { build as buildWithVite, type Rolldown } from 'vite';
import webpack, { type Stats } from 'webpack';

/** Marks the chunk that only pages with `debug: true` load. */
const OF_DEBUG = '[placard] hello';
/** Marks the chunk that inserts placements by selector. */
const OF_INSERTION = 'its selector has no match';
/** In the others that only some pages load: the inspector with its previews, visitors, and the trouble chunk. */
const OF_SOME_PAGES = [
  OF_DEBUG,
  OF_INSERTION,
  'syncWaitsUntil',
  'The visitor could not be merged',
  'events_processed: expected ',
];

export interface BundleSize {
  /** Minified and gzipped bytes of the entry and its static imports. */
  entry: number;
  /** The same of all chunks that a page loads without `debug`. */
  all: number;
  /** The same of the chunk that inserts placements by selector; 0 if none. */
  insertion: number;
  /** The same of the chunks of an ordinary visit: cached banner, sync, impression, click and their delivery. */
  ordinary: number;
  /** The same of each chunk, by file name. */
  chunks: Record<string, number>;
}

const gzipped = (text: string): number => gzipSync(text, { level: 9 }).length;

const measured = new Map<string, Promise<BundleSize>>();

/** Measures the bundle of a module `code` that imports packages installed in `folder`, once per process. */
export const measureBundle = (
  code: string,
  folder: string,
  bundler: BundlerName = 'vite',
): Promise<BundleSize> => {
  const key = JSON.stringify([code, folder, bundler]);
  const size = measured.get(key) ?? measure(code, folder, bundler);
  measured.set(key, size);
  return size;
};

const measure = async (code: string, folder: string, bundler: BundlerName): Promise<BundleSize> => {
  const application = await mkdtemp(join(folder, 'measured-'));
  try {
    await writeFile(join(application, 'application.js'), code);
    const built = await BUNDLERS[bundler](application);
    // Some bundlers write the chunks of an `import()` that they took out; nothing loads them.
    const isLoaded = (name: string): boolean => {
      const [, id] = /^(\d+)\.js$/.exec(name) ?? [];
      const mark = id ? `.e(${id})` : basename(name);
      return built.some(({ code: text }) => text.includes(mark));
    };
    const chunks = built.filter(({ name, isEntry }) => isEntry || isLoaded(name));
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
    const ofInsertion = chunks.filter(({ code: text }) => text.includes(OF_INSERTION));
    const insertion = sum(ofInsertion.map(({ name }) => name));
    const [all, ordinary] = [without([OF_DEBUG]), without(OF_SOME_PAGES)];
    return {
      entry: sum(first),
      all: all!,
      ordinary: ordinary!,
      insertion,
      chunks: Object.fromEntries(sizes),
    };
  } finally {
    await rm(application, { recursive: true });
  }
};

/** Returns the version of an installed package. */
export const getVersion = async (name: string, folder: string): Promise<string> =>
  JSON.parse(await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version;

/** Not bundled, because applications have their own. */
const HOST_MODULES = ['react', 'react-dom', 'vue'];

/** One file of a bundle, minified. */
export interface Chunk {
  /** File name without the content hash. */
  name: string;
  code: string;
  isEntry: boolean;
  /** Names of statically imported chunks. */
  imports: string[];
}

/** Bundles `application.js` of a folder for browsers with the bundler's default settings. */
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
      // A library build omits Vite's preload helper, which other bundlers do not have.
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
