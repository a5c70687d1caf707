import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { analyse } from 'scslre';
import { parseSync, Visitor } from 'vite';
import { expect, test } from 'vitest';

/** Input is our own text or the operator's command line, so its length is not attacker-controlled. */
const OF_OWN_TEXTS = [
  'src/cli/help.ts',
  'src/cli/sentence.ts',
  'src/server/options.ts',
  'src/client/options/options.ts',
];

interface Found {
  file: string;
  pattern: string;
  flags: string;
}

const expressions: Found[] = readdirSync('src', { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
  .flatMap((entry) => {
    const file = join(entry.parentPath, entry.name);
    const found: Found[] = [];
    new Visitor({
      Literal: (node) => {
        if ('regex' in node && node.regex) found.push({ file, ...node.regex });
      },
    }).visit(parseSync(file, readFileSync(file, 'utf8')).program);
    return found;
  });

/** Causes of superlinear matching: backtracking (`Trade`, `Self`) or restarting at each character (`Move`). */
const slowness = ({ pattern, flags }: Omit<Found, 'file'>): string[] =>
  analyse({ source: pattern, flags })
    .reports.filter(({ type }) => type !== 'Move' || !flags.includes('y'))
    .map(({ type, exponential }) => (exponential ? `exponential ${type}` : type));

test('detects a slow expression', () => {
  expect(slowness({ pattern: '^(a+)+$', flags: '' })).toEqual(['exponential Self']);
  expect(slowness({ pattern: '\\{\\{.*?\\}\\}', flags: 'gs' })).toEqual(['Move']);
  expect(slowness({ pattern: 'x+$', flags: 'y' })).toEqual([]);
});

test('every regular expression in src runs in linear time', () => {
  expect(expressions.length).toBeGreaterThan(100);
  const slow = expressions.flatMap((each) => {
    const found = OF_OWN_TEXTS.includes(each.file) ? [] : slowness(each);
    return found.length > 0 ? [`${each.file}: /${each.pattern}/${each.flags}: ${found.join()}`] : [];
  });
  expect(slow).toEqual([]);
});

test('every listed exception exists and is slow', () => {
  const files = new Set(expressions.filter((each) => slowness(each).length > 0).map(({ file }) => file));
  expect(OF_OWN_TEXTS.filter((file) => !files.has(file))).toEqual([]);
});
