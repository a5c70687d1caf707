import { describe, expect, it } from 'vitest';
import { BROWSER_PACKAGE_ENTRIES, measureBundle } from '../helpers/bundle-size.ts';

/**
 * Minified and gzipped bytes of each entry as an application bundles it: what it loads first, and all its chunks. Each is
 * the figure of the day it was set and 3 %; whoever needs more raises it on purpose.
 */
const BUDGETS: Record<string, { entry: number; all: number }> = {
  '.': { entry: 6_200, all: 45_200 },
  './element': { entry: 5_960, all: 5_960 },
  './react': { entry: 1_200, all: 1_200 },
  './vue': { entry: 1_080, all: 1_080 },
  // All of it is a tool for developers; the entry alone is on pages where it stays closed.
  './devtools': { entry: 760, all: 12_000 },
  './templates': { entry: 5_360, all: 5_360 },
  './webview': { entry: 1_740, all: 1_740 },
};
/** What loads before a cached banner is painted never grows beyond this, whatever the budget says. */
const FIRST_PAINT_BYTES = 6_500;

describe('the size of the package', () => {
  it('has a budget for every entry that runs in a browser', () => {
    expect(Object.keys(BUDGETS)).toEqual(Object.keys(BROWSER_PACKAGE_ENTRIES));
  });

  it.each(Object.entries(BUDGETS))('%s stays within its budget', async (name, budget) => {
    const { entry, all, chunks } = await measureBundle(BROWSER_PACKAGE_ENTRIES[name]!);
    const found = `entry ${entry}, all ${all}: ${JSON.stringify(chunks)}`;
    expect(entry, found).toBeLessThanOrEqual(budget.entry);
    expect(all, found).toBeLessThanOrEqual(budget.all);
    // A budget far above the figure guards nothing.
    expect(all * 1.1, `the budget can be lowered; ${found}`).toBeGreaterThan(budget.all);
  });

  it('paints a cached banner before ky, schemas and delivery are loaded', async () => {
    const { entry, chunks } = await measureBundle(BROWSER_PACKAGE_ENTRIES['.']!);
    expect(entry, JSON.stringify(chunks)).toBeLessThanOrEqual(FIRST_PAINT_BYTES);
    expect(Object.keys(chunks).length).toBeGreaterThan(1);
  });
});
