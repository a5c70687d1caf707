import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { docExamples, PAGES } from '../helpers/doc-examples.ts';

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };

/** As GitHub makes anchors of headings. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

describe.each([...PAGES, 'CONTRIBUTING.md', 'SECURITY.md', 'llms.txt'])('%s', (page) => {
  const text = readFileSync(page, 'utf8');

  test('links only to files and headings that are there', () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)];
    const broken = links.filter(([, path, anchor]) => {
      const target = path ? normalize(join(dirname(page), path)) : page;
      if (!existsSync(target)) return true;
      return anchor !== undefined && !anchorsOf(readFileSync(target, 'utf8')).includes(anchor);
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  test('names only files of the repository that are there', () => {
    const paths = [...text.matchAll(/`((?:test|src|demo|deploy|build|docs)\/[\w./-]+\.\w+)`/g)].map(
      ([, path]) => path!,
    );
    expect(paths.filter((path) => !existsSync(path))).toEqual([]);
  });

  test('names only npm scripts that exist', () => {
    const own = ['ci', 'run', 'i', 'init', 'install', 'pack', 'publish'];
    const inCode = text.split('`').filter((_, i) => i % 2 === 1);
    const scripts = inCode
      .flatMap((code) => [...code.matchAll(/\bnpm (?:run )?([a-z]+)/g)].map(([, name]) => name!))
      .filter((name) => !own.includes(name));
    expect(scripts.filter((name) => !Object.hasOwn(manifest.scripts, name))).toEqual([]);
  });
});

test('every TypeScript example says how it is checked', () => {
  const unmarked = docExamples().filter(
    ({ language, use }) => ['ts', 'tsx', 'js'].includes(language) && use === '',
  );
  expect(unmarked.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
});

test('the README is short', () => {
  expect(readFileSync('README.md', 'utf8').split('\n').length).toBeLessThanOrEqual(221);
});
