import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { allExamples, DOCUMENTS } from '../helpers/document-examples.ts';
import { runCli } from '../helpers/run-cli.ts';

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };

/** Heading anchors as GitHub generates them. */
const getAnchors = (text: string): string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

describe.each([...DOCUMENTS, 'CONTRIBUTING.md', 'SECURITY.md', 'llms.txt'])('%s', (file) => {
  const text = readFileSync(file, 'utf8');
  const found = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name!);

  test('links only to existing files and headings', () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)];
    const broken = links.filter(([, path, anchor]) => {
      const target = path ? join(dirname(file), path) : file;
      if (!existsSync(target)) return true;
      return anchor !== undefined && !getAnchors(readFileSync(target, 'utf8')).includes(anchor);
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  test('names only existing files of the repository', () => {
    const paths = found(/`((?:test|src|build|demo|deploy|docs)\/[\w./-]+\.\w+)`/g);
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

test('the README is short', () => {
  expect(readFileSync('README.md', 'utf8').split('\n').length).toBeLessThanOrEqual(120);
});

test('the architecture page is short', () => {
  expect(readFileSync('docs/concepts/architecture.md', 'utf8').split('\n').length).toBeLessThanOrEqual(150);
});

test('the paths on the architecture page exist, relative to the section, `src` or an earlier path in the row', () => {
  const page = readFileSync('docs/concepts/architecture.md', 'utf8');
  const sections = page.split('\n## ').filter((section) => /^(Client|Service):/.test(section));
  expect(sections).toHaveLength(2);
  const missing = sections.flatMap((section) =>
    section.split('\n').flatMap((row) => {
      const folders = ['src', `src/${section.split(':')[0]!.toLowerCase()}`];
      return [...row.matchAll(/`([\w./-]+\.ts)`/g)].flatMap(([, path]) => {
        const folder = folders.find((each) => existsSync(join(each, path!)));
        if (!folder) return [path];
        folders.push(dirname(join(folder, path!)));
        return [];
      });
    }),
  );
  expect(missing).toEqual([]);
});

describe('the documents', () => {
  test('contain links, paths and scripts to check', () => {
    const all = DOCUMENTS.map((file) => readFileSync(file, 'utf8')).join();
    expect(all).toMatch(/\]\((?!https?:|#)[^)#]+/);
    expect(all).toMatch(/`test\/[\w./-]+\.ts`/);
  });

  test('state how every TypeScript example is checked', () => {
    const unmarked = allExamples().filter(
      ({ language, use }) => ['ts', 'tsx', 'js'].includes(language) && use === '',
    );
    expect(unmarked.map(({ file, line }) => `${file}:${line}`)).toEqual([]);
  });
});

/** `placard` commands in the shell blocks, each with its options. */
const commandLines = allExamples()
  .filter(({ language }) => language === 'sh')
  .flatMap(({ code }) => code.replaceAll('\\\n', ' ').split('\n'))
  .flatMap((line) => (/(?:^|\s)placard ([a-z-]+)(.*)$/.exec(line)?.slice(1) ? [line] : []));

test.each(commandLines)('the command line of a document has existing options: %s', async (line) => {
  const [, name = '', rest = ''] = /(?:^|\s)placard ([a-z-]+)(.*)$/.exec(line)!;
  const { code, stdout } = await runCli([name, '--help']);
  expect(code).toBe(0);
  expect(stdout).toContain(`(placard ${name})`);
  for (const [option] of rest.replace(/#.*/, '').matchAll(/--[\w-]+/g)) {
    expect(stdout).toMatch(new RegExp(`^ +${option}\\b`, 'm'));
  }
});
