import { globSync, readFileSync } from 'node:fs';
import { parseSync, Visitor } from 'vite';
import { expect, test } from 'vitest';

/** Returns the source files that name something, outside comments. */
const filesWith = (pattern: RegExp, glob: string): string[] =>
  globSync(glob)
    .filter((file) => pattern.test(readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')))
    .sort();

test('a new template requires only a file and an entry in the catalog', () => {
  expect(filesWith(/carousel/i, 'src/**/*.{ts,tsx}')).toEqual([
    'src/templates/carousel.ts',
    'src/templates/index.ts',
  ]);
});

test('a new audience field requires only an entry in the table', () => {
  const glob = 'src/{service/campaigns,service/explain,service/workspace,studio}/**/*.{ts,tsx}';
  expect(filesWith(/app_version/, glob)).toEqual(['src/service/campaigns/audience/fields.ts']);
});

test('a new event type requires only a count, a measure, and a method of slots', () => {
  expect(
    filesWith(/\bclick\b[\s\S]{0,600}\bdismiss\b|\bclicks\b[\s\S]{0,600}\bdismissals\b/, 'src/**/*.{ts,tsx}'),
  ).toEqual([
    'src/client/placements/slot.ts',
    'src/client/track.ts',
    'src/protocol/banners-track.ts',
    'src/protocol/slot-events.ts',
    'src/service/measures.ts',
  ]);
});

/** Upper bound of casts in `src`. Lower it after removing casts; never raise it. */
const MAX_CASTS = 57;

/** Returns the lines of the casts in a file. `as const` is none, and the compiler rejects `<T>value`. */
const findCasts = (file: string, text = readFileSync(file, 'utf8')): string[] => {
  const { program, errors } = parseSync(file, text);
  expect(errors).toEqual([]);
  const casts: string[] = [];
  new Visitor({
    TSAsExpression: ({ typeAnnotation: { start, end } }) => {
      const line = text.slice(0, start).split('\n').length;
      if (text.slice(start, end) !== 'const') casts.push(`${file}:${line}`);
    },
  }).visit(program);
  return casts;
};

test('detects a cast', () => {
  const text =
    "import { a as b } from 'a';\nconst c = [b] as const;\n// b as C\nconst d = b as unknown as C;\n";
  expect(findCasts('a.ts', text)).toEqual(['a.ts:4', 'a.ts:4']);
});

test('src has at most the listed number of casts', () => {
  const casts = filesWith(/ as (?!const\b)/, 'src/**/*.{ts,tsx}').flatMap((file) => findCasts(file));
  expect(casts.length, casts.join('\n')).toBeLessThanOrEqual(MAX_CASTS);
  expect(casts.length * 1.1, 'lower the bound').toBeGreaterThan(MAX_CASTS);
});
