// An app of Next with the packed package, installed by npm. Its folder is kept, so that the next run installs little.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import { freePort } from './free-port.ts';
import { packedPackage } from './packed-package.ts';

const run = promisify(execFile);

const VERSIONS = { next: '16.4.3', react: '19.3.1', 'react-dom': '19.3.1' };
const FOLDER = resolve('node_modules/.cache/next-app');
const NEXT = join(FOLDER, 'node_modules/next/dist/bin/next');
const PROBE_MS = 15_000;
const INSTALL_MS = 150_000;
const BUILD_MS = 120_000;

/** Of the test's own environment Next gets nothing else: it would take over what a test runner sets. */
const ENVIRONMENT = {
  PATH: process.env['PATH'] ?? '',
  NODE_ENV: 'production' as const,
  NEXT_TELEMETRY_DISABLED: '1',
};

const LAYOUT = `export default function Layout({ children }) {
  return (
    <html lang="en">
      <head><link rel="icon" href="data:," /></head>
      <body>{children}</body>
    </html>
  );
}
`;
/** Next would look for a lock file in the folders above. */
const CONFIG = 'export default { turbopack: { root: import.meta.dirname } };\n';

/** Whether npm can reach a registry, from which the app is installed. */
export const canInstallNext = async (): Promise<boolean> => {
  try {
    await run('npm', ['view', `next@${VERSIONS.next}`, 'version', '--fetch-retries=0'], {
      timeout: PROBE_MS,
    });
    return true;
  } catch {
    return false;
  }
};

const install = async (): Promise<void> => {
  const { tarball } = await packedPackage();
  const manifest = {
    private: true,
    type: 'module',
    dependencies: { ...VERSIONS, placard: `file:${tarball}` },
  };
  await writeFile(join(FOLDER, 'package.json'), JSON.stringify(manifest));
  await run('npm', ['install', '--prefer-offline', '--no-package-lock', '--no-audit', '--no-fund'], {
    cwd: FOLDER,
    timeout: INSTALL_MS,
  });
};

/** The types are checked with the documents, and a compiler in the app would be one more thing to install. */
const withoutTypes = async (code: string): Promise<string> =>
  (await transform(code, { loader: 'tsx', jsx: 'preserve' })).code;

/** Builds the app with these files of TSX, by their paths. */
export const buildNextApp = async (files: Record<string, string>): Promise<void> => {
  for (const made of ['app', '.next']) await rm(join(FOLDER, made), { recursive: true, force: true });
  await mkdir(join(FOLDER, 'app'), { recursive: true });
  await install();
  await writeFile(join(FOLDER, 'next.config.js'), CONFIG);
  await writeFile(join(FOLDER, 'app/layout.jsx'), LAYOUT);
  for (const [path, code] of Object.entries(files)) {
    const file = join(FOLDER, path.replace(/\.tsx$/, '.jsx'));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, await withoutTypes(code));
  }
  await run(process.execPath, [NEXT, 'build'], { cwd: FOLDER, env: ENVIRONMENT, timeout: BUILD_MS });
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
