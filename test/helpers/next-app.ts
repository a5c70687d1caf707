// An app of create-next-app with its default configuration and the packed package. npm's packages are cached in a folder
// that is kept between runs.
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
/** The generator's defaults, without Tailwind and the example page. */
const ANSWERS = ['--yes', '--empty', '--no-tailwind', '--use-npm', '--skip-install', '--disable-git'];
/** Outside `node_modules`, where Turbopack compiles no TypeScript. One per checkout. */
const FOLDER = join(tmpdir(), `placard-next-app-${hash('sha256', resolve('.')).slice(0, 12)}`);
const NEXT = join(FOLDER, 'node_modules/next/dist/bin/next');
const ESLINT = join(FOLDER, 'node_modules/eslint/bin/eslint.js');
const INSTALL_MS = patience(180_000);
const BUILD_MS = patience(120_000);

/** Next gets no other variables, because it would read those of the test runner. */
const ENVIRONMENT = {
  PATH: process.env['PATH'] ?? '',
  HOME: tmpdir(),
  NODE_ENV: 'production' as const,
  NEXT_TELEMETRY_DISABLED: '1',
};

/** Moves cached packages aside, because the generator needs an empty folder. */
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
  // In production npm would omit the development packages, which the build needs.
  await run(
    'npm',
    ['install', '--include=dev', '--prefer-offline', '--no-package-lock', '--no-audit', '--no-fund'],
    { cwd: FOLDER, timeout: INSTALL_MS },
  );
};

/** Builds the app with these files by path, and runs its ESLint. */
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
