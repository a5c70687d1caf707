import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { BUNDLERS, type BundlerName } from './bundlers.ts';

/** In the chunk that only a page with `debug: true` loads. */
const OF_DEBUG = '[placard] hello';
/** In the others that only some pages load: of the inspector, of a preview, of visitors. */
const OF_SOME_PAGES = [OF_DEBUG, 'syncWaitsUntil', 'End preview', 'The visitor could not be joined'];

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
      sum(chunks.filter(({ code }) => !marks.some((mark) => code.includes(mark))).map(({ name }) => name));
    const [all, ordinary] = [without([OF_DEBUG]), without(OF_SOME_PAGES)];
    return { entry: sum(first), all, ordinary, chunks: Object.fromEntries(sizes) };
  } finally {
    await rm(application, { recursive: true });
  }
};

/** The version of an installed package, for tables. */
export const versionOf = async (name: string, folder: string): Promise<string> =>
  JSON.parse(await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version;
