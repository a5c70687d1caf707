// When each chunk of the client loads: compares the table in `src/client/deferred-client.ts` with a bundler's output.
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { beforeAll, expect, test } from 'vitest';

const ADDITIONS = 'src/client/additions.ts';
/** Entry point of the application bundle. */
const FIRST = '<stdin>';
/** Contains the table. */
const DEFERRED = 'src/client/deferred-client.ts';

/** Modules listed in the table. */
const named = [...readFileSync(DEFERRED, 'utf8').matchAll(/\w+: \(\) => import\('(.+?)'\)/g)].map(
  ([, path]) => join('src/client', path!),
);

/** Modules of the additions. esbuild emits their chunks even if the page imports none. */
const added = [...readFileSync(ADDITIONS, 'utf8').matchAll(/\(\) => import\('(.+?)'\)/g)].map(([, path]) =>
  join('src/client', path!),
);

interface Built {
  /** Entry module of the chunk. `undefined` for shared chunks. */
  entry: string | undefined;
  /** Entry modules of the chunks loaded with `import()`. */
  later: string[];
  modules: string[];
}

let chunks: Built[];
beforeAll(async () => {
  const { metafile } = await build({
    stdin: { contents: "export { createPlacard } from './src/client/index.ts';", resolveDir: '.' },
    outdir: 'out',
    bundle: true,
    splitting: true,
    // As in an application: minifying inlines constants, so they create no shared chunks.
    minify: true,
    format: 'esm',
    write: false,
    metafile: true,
    absWorkingDir: resolve('.'),
  });
  chunks = Object.values(metafile.outputs).map(({ entryPoint, imports, inputs }) => ({
    entry: entryPoint,
    later: imports
      .filter(({ kind }) => kind === 'dynamic-import')
      .flatMap(({ path }) => metafile.outputs[path]?.entryPoint ?? []),
    modules: Object.keys(inputs),
  }));
});

const getChunk = (entry: string) => chunks.find((chunk) => chunk.entry === entry);

test('the client consists of the first chunk, the deferred one, the listed ones and the features', () => {
  expect(named.length).toBeGreaterThan(2);
  expect(chunks.map(({ entry }) => entry).sort()).toEqual([FIRST, DEFERRED, ...named, ...added].sort());
});

test('the first chunk loads only the deferred one, which loads the listed ones', () => {
  expect(getChunk(FIRST)!.later).toEqual([DEFERRED]);
  expect(getChunk(DEFERRED)!.later.sort()).toEqual([...named].sort());
  for (const entry of named) expect(getChunk(entry)!.later).toEqual([]);
});

test('the first chunk does not contain code that only a sync or a delivery needs', () => {
  const { modules } = getChunk(FIRST)!;
  const isLate = (path: string) => /client\/(delivery|inspector)\//.test(path);
  expect(modules.filter(isLate)).toEqual([]);
  expect(modules.filter((path) => path.startsWith('src/client/')).length).toBeGreaterThan(15);
});

test('other files of the client do not load modules on demand', () => {
  const importers = globSync('src/client/**/*.ts').filter((path) =>
    /\bimport\('\.|import\([`"]\./.test(readFileSync(path, 'utf8').replaceAll(/typeof import\(.*?\)/g, '')),
  );
  expect(importers.sort()).toEqual([DEFERRED, ADDITIONS, 'src/client/create-placard.ts'].sort());
});
