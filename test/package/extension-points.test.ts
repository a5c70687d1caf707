import { globSync, readFileSync } from 'node:fs';
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

test('a new audience field requires only an entry in the table and a condition in the Studio', () => {
  const glob = 'src/{service/campaigns,service/explain,service/workspace,studio}/**/*.{ts,tsx}';
  expect(filesWith(/app_version/, glob)).toEqual([
    'src/service/campaigns/audience/fields.ts',
    'src/studio/campaign/conditions/attribute.ts',
  ]);
});
