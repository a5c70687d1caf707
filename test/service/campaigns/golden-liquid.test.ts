import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compile, render } from '../../../src/service/campaigns/liquid.ts';
import { createBudget } from '../../../src/service/campaigns/render-budget.ts';

/** A case of https://github.com/jg-rp/golden-liquid, which records the output of Shopify's implementation. */
interface Case {
  name: string;
  template: string;
  data?: Record<string, unknown>;
  /** Expected output: this text, one of these, or none if the template is rejected. */
  result?: string;
  results?: string[];
  invalid?: boolean;
}

const read = (name: string) => JSON.parse(readFileSync(`test/fixtures/golden-liquid/${name}`, 'utf8'));
const { tests } = read('golden_liquid.json') as { tests: Case[] };
/** Cases with different output, by reason. */
const differences = read('differences.json') as Record<string, string[]>;
const different = new Set(Object.values(differences).flat());

const isRight = ({ template, data = {}, result, results, invalid }: Case): boolean => {
  try {
    const printed = render(compile(template), structuredClone(data), createBudget());
    return !invalid && (results ?? [result]).includes(printed);
  } catch {
    return invalid === true;
  }
};

test('Liquid matches the reference, except in the listed cases', () => {
  const wrong = tests.filter((each) => !isRight(each)).map(({ name }) => name);
  expect(wrong.filter((name) => !different.has(name))).toEqual([]);
  expect([...different].filter((name) => !wrong.includes(name))).toEqual([]);
});

test('the documentation states the number of matching cases', () => {
  const same = tests.length - different.size;
  const reference = readFileSync('docs/reference/workspace-file.md', 'utf8');
  expect(reference).toContain(`${same} of the ${tests.length.toLocaleString('en-US')} cases`);
});
