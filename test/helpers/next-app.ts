// An app as create-next-app makes it today, with its own configuration, the packed package, and npm's packages in a folder
// that is kept, so that the next run installs little.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import { packedPackage } from './packed-package.ts';
import { patience } from './patience.ts';

const run = promisify(execFile);

const GENERATOR = resolve('node_modules/create-next-app/dist/index.js');
/** What its questions are answered with: its own recommendations, but without a style library and without its example page. */
const ANSWERS = ['--yes', '--empty', '--no-tailwind', '--use-npm', '--skip-install', '--disable-git'];
/** Not below a `node_modules`: Turbopack compiles no TypeScript there. One for each checkout. */
const FOLDER = join(tmpdir(), `placard-next-app-${hash('sha256', resolve('.')).slice(0, 12)}`);
const NEXT = join(FOLDER, 'node_modules/next/dist/bin/next');
const ESLINT = join(FOLDER, 'node_modules/eslint/bin/eslint.js');
const INSTALL_MS = patience(180_000);
const BUILD_MS = patience(120_000);

/** Of the test's own environment Next gets nothing else: it would take over what a test runner sets. */
const ENVIRONMENT = {
  PATH: process.env['PATH'] ?? '',
  HOME: tmpdir(),
  NODE_ENV: 'production' as const,
  NEXT_TELEMETRY_DISABLED: '1',
};

/** The generator wants an empty folder: what npm installed before waits beside it. */
const generate = async (): Promise<void> => {
  const [installed, waiting] = [join(FOLDER, 'node_modules'), `${FOLDER}-modules`];
  if (existsSync(installed)) {
    await rm(waiting, { recursive: true, force: true });
    await rename(installed, waiting);
  }
  await rm(FOLDER, { recursive: true, force: true });
  await run(process.execPath, [GENERATOR, FOLDER, ...ANSWERS], { env: ENVIRONMENT });
  if (existsSync(waiting)) await rename(waiting, installed);
};

const install = async (): Promise<void> => {
  const { tarball } = await packedPackage();
  const file = join(FOLDER, 'package.json');
  const manifest = JSON.parse(await readFile(file, 'utf8'));
  manifest.dependencies['placard'] = `file:${tarball}`;
  await writeFile(file, JSON.stringify(manifest));
  // Without its development packages in production, which the build's types and ESLint are.
  await run(
    'npm',
    ['install', '--include=dev', '--prefer-offline', '--no-package-lock', '--no-audit', '--no-fund'],
    { cwd: FOLDER, timeout: INSTALL_MS },
  );
};

/** Builds the app with these files in the place of the generator's, by their paths, and runs its ESLint. */
export const buildNextApp = async (files: Record<string, string>): Promise<void> => {
  await generate();
  await install();
  for (const [path, code] of Object.entries(files)) {
    const file = join(FOLDER, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, code);
  }
  const options = { cwd: FOLDER, env: ENVIRONMENT, timeout: BUILD_MS };
  await run(process.execPath, [ESLINT, '--max-warnings', '0', 'app'], options);
  await run(process.execPath, [NEXT, 'build'], options);
};

export interface NextServer {
  origin: string;
  stop(): Promise<void>;
}

/** Resolves when the server listens. */
export const startNextApp = async (): Promise<NextServer> => {
  const port = await freePort();
  const child: ChildProcess = spawn(
    process.execPath,
    [NEXT, 'start', '--hostname', '127.0.0.1', '--port', String(port)],
    { cwd: FOLDER, env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = once(child, 'exit');
  await new Promise<void>((ready, fail) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      if (line.includes('Ready')) ready();
    });
    void ended.then(([code]) => fail(new Error(`next start ended with code ${code}`)));
  });
  return {
    origin: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill();
      await ended;
    },
  };
};
