import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUNDLERS, type BundlerName, measureBundle } from '../helpers/bundlers.ts';
import { anApplication } from '../helpers/packed-package.ts';
import {
  ALL_CHUNKS,
  BROWSER_PACKAGE_ENTRIES,
  FIRST_PAINT,
  INSERT_PLACEMENTS,
  ORDINARY_VISIT,
} from '../helpers/size-budgets.ts';

const bundlers = Object.keys(BUNDLERS) as BundlerName[];

let folder: string;
beforeAll(async () => {
  folder = await anApplication();
});
afterAll(() => rm(folder, { recursive: true }));

describe('the size of the packed package', () => {
  it.each(Object.entries(BROWSER_PACKAGE_ENTRIES))(
    '%s stays within its budget in every bundler',
    async (name, code) => {
      const found: Record<string, unknown> = {};
      let worst = 0;
      for (const bundler of bundlers) {
        const size = await measureBundle(code, folder, bundler);
        found[bundler] = size;
        worst = Math.max(worst, size.all);
      }
      const budget = ALL_CHUNKS[name as keyof typeof ALL_CHUNKS];
      expect(worst, JSON.stringify(found)).toBeLessThanOrEqual(budget);
      // A budget far above the actual size has no effect.
      expect(worst * 1.1, `lower the budget; ${JSON.stringify(found)}`).toBeGreaterThan(budget);
    },
  );

  it('stays within its budget for a typical visit, in every bundler', async () => {
    const sizes = await Promise.all(
      bundlers.map((bundler) => measureBundle(BROWSER_PACKAGE_ENTRIES['.'], folder, bundler)),
    );
    const worst = Math.max(...sizes.map(({ ordinary }) => ordinary));
    expect(worst, JSON.stringify(sizes)).toBeLessThanOrEqual(ORDINARY_VISIT);
    expect(worst * 1.1).toBeGreaterThan(ORDINARY_VISIT);
    // Pages with inspect, preview or visitors load one more chunk.
    for (const { all, ordinary } of sizes) expect(all - ordinary).toBeGreaterThan(2_500);
  });

  it.each(bundlers)(
    'includes placements by selector only in pages that import them, in %s',
    async (bundler) => {
      const without = await measureBundle(BROWSER_PACKAGE_ENTRIES['.'], folder, bundler);
      expect(without.insertion).toBe(0);
      const code =
        "import { createPlacard, selectors } from 'placard'; globalThis.run = { createPlacard, selectors };";
      const { insertion } = await measureBundle(code, folder, bundler);
      expect(insertion).toBeGreaterThan(1_000);
      expect(insertion).toBeLessThanOrEqual(INSERT_PLACEMENTS);
    },
  );

  it.each(bundlers)('paints a cached banner before sync and delivery are loaded, in %s', async (bundler) => {
    const { entry, chunks } = await measureBundle(BROWSER_PACKAGE_ENTRIES['.'], folder, bundler);
    expect(entry, JSON.stringify(chunks)).toBeLessThanOrEqual(FIRST_PAINT[bundler]);
    expect(Object.keys(chunks).length).toBeGreaterThan(1);
  });

  it('has no module in both eager and deferred code, because esbuild would split it into a blocking file', async () => {
    const { chunks } = await measureBundle(BROWSER_PACKAGE_ENTRIES['.'], folder, 'esbuild');
    expect(Object.keys(chunks).filter((name) => !/application|shared-/.test(name))).toEqual([]);
  });

  it.each(bundlers)('includes the element definition in %s without a named import', async (bundler) => {
    const code = "import 'placard/element';";
    const { all } = await measureBundle(code, folder, bundler);
    expect(all).toBeGreaterThan(ALL_CHUNKS['./element'] * 0.8);
  });

  it.each(bundlers)('excludes unused imports of %s', async (bundler) => {
    const code =
      "import { createTemplates } from 'placard/templates'; import { createPlacard } from 'placard';";
    const { entry } = await measureBundle(code, folder, bundler);
    // esbuild also emits chunks of removed `import()` calls; nothing loads them.
    expect(entry).toBeLessThan(100);
  });

  it('has a budget for every entry that runs in a browser', () => {
    const manifest = JSON.parse(readFileSync(join(folder, 'node_modules/placard/package.json'), 'utf8'));
    const others = ['./server', './service', './testing', './script', './script-all', './package.json'];
    // The element again, with framework types.
    const again = ['./element/react', './element/vue'];
    const budgeted = Object.keys(manifest.exports).filter((name) => ![...others, ...again].includes(name));
    expect(Object.keys(BROWSER_PACKAGE_ENTRIES).sort()).toEqual(budgeted.sort());
  });
});
