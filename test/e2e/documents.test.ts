// Compiles every TypeScript example of the README and of docs/ against the packed package, and runs those marked to run.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, parse, resolve } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchShell } from '../helpers/browser.ts';
import { allExamples, type Example } from '../helpers/document-examples.ts';
import { anApplication } from '../helpers/packed-package.ts';
import { type PageServer, startPageServer } from '../helpers/page-server.ts';
import { type RunningService, runService } from '../helpers/running-service.ts';

const SHOWN_ENDPOINT = 'http://127.0.0.1:8787';
/** The two variants of the campaign for everyone. */
const HEADLINES = /Make room on the shelf|Fresh from the kiln/;
const MARKUP =
  '<div id="hero" style="min-block-size: 200px"></div><placard-banner placement="home_hero"></placard-banner>';

/** Examples of an app that its own test builds. */
const BUILT = ['vue', 'next'];

const examples = allExamples().filter(({ language, use }) => /^tsx?$/.test(language) && !BUILT.includes(use));
const getTitle = ({ file, line }: Example) => `${file}:${line}`;
const getName = ({ file, line }: Example) => `${parse(file).name}-${line}`;
/** Examples of one page can import each other by their declared file names. */
const getFile = (example: Example) => {
  const ending = example.use === 'vitest' ? 'test.ts' : example.language;
  return join(parse(example.file).name, example.name ?? `line-${example.line}.${ending}`);
};
const titled = (use: string) =>
  examples.filter((example) => example.use === use).map((example) => [getTitle(example), example] as const);

const run = async (command: string, args: string[]) => {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
};

let service: RunningService;
let application: string;
/** Folder of the examples in the application. */
let folder: string;

/** Returns the installed packages of this repository, other than those that `anApplication` installs. */
const getPackages = async (): Promise<string[]> => {
  const { dependencies } = JSON.parse(await readFile('package.json', 'utf8'));
  const names = await readdir('node_modules');
  return names.filter((name) => !name.startsWith('.') && name !== 'placard' && !(name in dependencies));
};

beforeAll(async () => {
  const packages = await getPackages();
  application = await anApplication(Object.fromEntries(packages.map((name) => [name, name])));
  folder = join(application, 'examples');
  service = await runService([JSON.parse(await readFile('demo/workspace.json', 'utf8'))]);
  service.clock.now = Date.now();
  for (const example of examples) {
    const file = join(folder, getFile(example));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, example.code.replaceAll(SHOWN_ENDPOINT, service.url));
  }
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: resolve('tsconfig.json'),
      // As in applications, whose bundlers need no file extensions.
      compilerOptions: {
        module: 'esnext',
        moduleResolution: 'bundler',
        jsx: 'react-jsx',
        jsxImportSource: 'react',
      },
      include: ['.'],
      exclude: [],
    }),
  );
});
afterAll(async () => {
  await service.stop();
  await rm(application, { recursive: true });
});

describe('the documentation', () => {
  test('has examples that compile against the packed package', async () => {
    expect(examples.length).toBeGreaterThan(3);
    const { code, output } = await run('node_modules/.bin/tsc', ['-p', folder]);
    expect(output).toBe('');
    expect(code).toBe(0);
  });

  describe('in a page', () => {
    let browser: Browser;
    let pages: PageServer;
    beforeAll(async () => {
      browser = await launchShell();
      const modules = titled('page').map(([, example]) => [getName(example), join(folder, getFile(example))]);
      pages = await startPageServer({ entries: [], modules: Object.fromEntries(modules) });
      for (const [, example] of titled('page')) {
        const script = `import '/placard/${getName(example)}.js';`;
        pages.set(`/${getName(example)}`, { html: MARKUP, script });
      }
    });
    afterAll(async () => {
      await pages?.close();
      await browser?.close();
    });

    test.each(titled('page'))('shows a banner with the example of %s', async (_, example) => {
      const page = await browser.newPage();
      const faults: string[] = [];
      page.on('pageerror', (error) => faults.push(String(error)));
      await page.goto(`${pages.origin}/${getName(example)}`);
      await page.getByText(HEADLINES).first().waitFor();
      expect(faults).toEqual([]);
      await page.close();
    });
  });

  test.each(titled('vitest'))('has a test that passes in vitest, %s', async (_, example) => {
    // Longer than the default test timeout, for a busy machine.
    const options = ['--root', folder, '--testTimeout', '60000'];
    const { code, output } = await run('node_modules/.bin/vitest', ['run', ...options, getFile(example)]);
    expect(code, output).toBe(0);
    expect(output).toContain('1 passed');
  });

  // Runs after the pages, because the backend example changes the user whose banners the pages show.
  test.each(titled('node'))('has an example that runs in Node, %s', async (_, example) => {
    const { code, output } = await run(process.execPath, [join(folder, getFile(example))]);
    expect(code, output).toBe(0);
  });
});
