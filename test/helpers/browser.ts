import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';
import { patience } from './patience.ts';

/** A Chromium that runs on this machine. */
export interface BrowserBinary {
  path: string;
  /** Additional environment variables. */
  env: Record<string, string>;
  /** `bundled` is the headless shell of the npm package, in which no tab hides another. */
  kind: 'given' | 'system' | 'bundled';
}

const SYSTEM_NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const SYSTEM_PATHS = ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', '/snap/bin/chromium'];

const require = createRequire(import.meta.url);

const systemChromium = (): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => SYSTEM_NAMES.map((name) => join(folder, name)))
    .concat(SYSTEM_PATHS)
    .find((path) => existsSync(path));

/** The machine's fonts, and the family that the package brings. */
const fontConfiguration = (folder: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${folder}</dir>
  <cachedir>${folder}-cache</cachedir>
</fontconfig>
`;

/**
 * Unpacks the package's Chromium with its libraries and fonts, once per machine and version. A child process does it,
 * because the package unpacks into TMPDIR; the final rename keeps concurrent test processes from running a
 * half-written browser.
 */
const unpackBundled = async (): Promise<string> => {
  const entry = require.resolve('@sparticuz/chromium');
  const manifest = JSON.parse(await readFile(join(dirname(entry), '..', 'package.json'), 'utf8'));
  const folder = join(tmpdir(), `placard-chromium-${manifest.version}-${process.getuid?.() ?? 0}`);
  if (existsSync(join(folder, 'chromium'))) return folder;
  const partial = await mkdtemp(`${folder}-`);
  await promisify(execFile)(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `const { default: chromium, inflate } = await import(${JSON.stringify(pathToFileURL(entry).href)});
       await chromium.executablePath(); await inflate(${JSON.stringify(join(dirname(entry), '..', 'bin', 'al2023.tar.br'))});`,
    ],
    { env: { ...process.env, TMPDIR: partial } },
  );
  await writeFile(join(partial, 'fonts.conf'), fontConfiguration(join(folder, 'fonts')));
  await rename(partial, folder).catch(async (error) => {
    await rm(partial, { recursive: true, force: true });
    if (!existsSync(join(folder, 'chromium'))) throw error;
  });
  return folder;
};

const bundledChromium = async (): Promise<BrowserBinary> => {
  const folder = await unpackBundled();
  const libraries = join(folder, 'al2023', 'lib');
  return {
    path: join(folder, 'chromium'),
    kind: 'bundled',
    env: {
      LD_LIBRARY_PATH: [libraries, process.env['LD_LIBRARY_PATH']].filter(Boolean).join(delimiter),
      FONTCONFIG_FILE: join(folder, 'fonts.conf'),
    },
  };
};

/** The bundled Chromium is built for Linux on x64 only. */
const canRunBundled = process.platform === 'linux' && process.arch === 'x64';

/**
 * Returns the Chromium for tests: `PLACARD_BROWSER` (a path or `bundled`), else the system's, else the one of
 * `@sparticuz/chromium`. With `shell` the bundled one comes before the system's. Throws if `PLACARD_BROWSER` does not exist.
 */
export const findBrowser = async (preference?: 'shell'): Promise<BrowserBinary> => {
  const wish = process.env['PLACARD_BROWSER'];
  if (wish && wish !== 'bundled') {
    if (!existsSync(wish)) throw new Error(`PLACARD_BROWSER names ${wish}, which does not exist`);
    return { path: wish, env: {}, kind: 'given' };
  }
  const isBundled = wish || (preference === 'shell' && canRunBundled);
  const path = isBundled ? undefined : systemChromium();
  return path ? { path, env: {}, kind: 'system' } : bundledChromium();
};

/** No sandbox, because tests may run as root; no background networking. */
export const BROWSER_ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const launch = async ({ path, env }: BrowserBinary): Promise<Browser> => {
  const browser = await chromium.launch({
    executablePath: path,
    env: { ...process.env, ...env } as Record<string, string>,
    args: BROWSER_ARGUMENTS,
    timeout: patience(30_000),
  });
  browser.on('context', (context) => context.setDefaultTimeout(patience(30_000)));
  return browser;
};

/** Launches the system's Chromium if there is one. The caller closes it. */
export const launchBrowser = async (): Promise<Browser> => launch(await findBrowser());

/**
 * Launches the headless shell, which is the same on every machine and twice as fast, for tests that do not depend on
 * windows or the page lifecycle.
 */
export const launchShell = async (): Promise<Browser> => launch(await findBrowser('shell'));
