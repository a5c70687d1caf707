import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const contract = readFileSync('docs/reference/contract.md', 'utf8');
const sections = new Set([...contract.matchAll(/^#{2,4} (\d+(?:\.\d+)*)/gm)].map(([, number]) => number));
const rows = new Set([...contract.matchAll(/^\| (\d+) \|/gm)].map(([, number]) => number));

test('every contract section in comments and titles is in docs/reference/contract.md', () => {
  const missing: string[] = [];
  let named = 0;
  for (const file of globSync('{src,test}/**/*.ts')) {
    for (const [, number, row] of readFileSync(file, 'utf8').matchAll(
      /\bcontract (\d+(?:\.\d+)*)(?:, row (\d+))?/gi,
    )) {
      named += 1;
      if (!sections.has(number) || (row !== undefined && !rows.has(row))) missing.push(`${file}: ${number}`);
    }
  }
  expect(missing).toEqual([]);
  expect(named).toBeGreaterThan(50);
});
