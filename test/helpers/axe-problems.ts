import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Layout does not depend on the color scheme, nor contrast on the width, so each is checked once. */
export const LOOKS = [
  { width: 1280, colorScheme: 'light' },
  { width: 360, colorScheme: 'dark' },
] as const;

/** Returns axe's violations of the current page, one line per rule, shadow roots included. `more`: experimental rules to check too. */
export const axeProblems = async (page: Page, more: string[] = []): Promise<string[]> => {
  await page.evaluate(source);
  const { violations } = await page.evaluate(
    ({ runOnly, more }) =>
      (Reflect.get(window, 'axe') as { run(root: Document, options: object): Promise<AxeResults> }).run(
        document,
        // Selectors of the elements that pass would take longer than the checks.
        {
          runOnly,
          rules: Object.fromEntries(more.map((rule) => [rule, { enabled: true }])),
          resultTypes: ['violations'],
        },
      ),
    { runOnly: RULES, more },
  );
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.flat().join(' ')).join(', ')}`,
  );
};
