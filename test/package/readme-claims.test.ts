import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readmeExamples } from '../helpers/readme-examples.ts';

const readme = readFileSync('README.md', 'utf8');
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };

describe('the README', () => {
  test('links only to files that are there', () => {
    const links = [...readme.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target]) => target!);
    expect(links.length).toBeGreaterThan(0);
    expect(links.filter((target) => !existsSync(target))).toEqual([]);
  });

  test('names only test and source files that are there', () => {
    const paths = [...readme.matchAll(/`((?:test|src|demo)\/[\w./-]+\.\w+)`/g)].map(([, path]) => path!);
    expect(paths.length).toBeGreaterThan(0);
    expect(paths.filter((path) => !existsSync(path))).toEqual([]);
  });

  test('names only npm scripts that exist', () => {
    const scripts = [...readme.matchAll(/`[^`\n]*?npm (?:run )?([a-z]+)[^`\n]*`/g)]
      .map(([, name]) => name!)
      .filter((name) => !['ci', 'run', 'i', 'install'].includes(name));
    expect(scripts.filter((name) => !Object.hasOwn(manifest.scripts, name))).toEqual([]);
  });

  test('says of every TypeScript example how it is checked', () => {
    const unmarked = readmeExamples().filter(
      ({ language, use }) => ['ts', 'tsx', 'js'].includes(language) && use === '',
    );
    expect(unmarked.map(({ line }) => `README.md:${line}`)).toEqual([]);
  });
});
