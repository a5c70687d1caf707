import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Inputs of the package, relative to the repository root. */
const SOURCES = [
  '{src,docs}/**/*.*',
  'deploy/{Containerfile,Caddyfile}',
  'deploy/**/*.*',
  'demo/{workspace.json,loyalty.csv,public/images/hero-*.svg}',
  '*.{json,ts,md,txt}',
  'LICENSE',
  // Imported by vite.config.ts.
  'test/helpers/{isolation,patience,machine}.ts',
];
const sources = (): string[] =>
  globSync(SOURCES, { cwd: ROOT, exclude: (path) => /node_modules|docs\/api\/html/.test(path) }).sort();

const fingerprint = async (files: string[]): Promise<string> => {
  const hash = createHash('sha256');
  for (const file of files) hash.update(file).update(await readFile(join(ROOT, file)));
  return hash.digest('hex').slice(0, 16);
};

/** Packs in a copy whose `dist` holds a stale file only. */
const pack = async (files: string[], folder: string): Promise<void> => {
  const copy = join(folder, 'repository');
  for (const file of files) {
    await mkdir(dirname(join(copy, file)), { recursive: true });
    await cp(join(ROOT, file), join(copy, file));
  }
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  await mkdir(join(copy, 'dist', 'left-behind'), { recursive: true });
  await writeFile(join(copy, 'dist', 'left-behind', 'old.js'), 'left behind');
  await run('npm', ['pack', '--pack-destination', folder], { cwd: copy });
  await run('tar', ['xzf', globSync(join(folder, '*.tgz'))[0]!, '-C', folder]);
  await rm(copy, { recursive: true });
};

const SQLITE_BUSY = 5;
const LOOK_MS = 200;

/** Keeps concurrent test processes from packing. A SQLite lock, because it ends with its process. */
const oneAtATime = async (work: () => Promise<void>): Promise<void> => {
  const lock = new DatabaseSync(join(tmpdir(), 'placard-package.lock'));
  try {
    for (let isMine = false; !isMine; ) {
      try {
        lock.exec('BEGIN EXCLUSIVE');
        isMine = true;
      } catch (error) {
        if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
        await wait(LOOK_MS);
      }
    }
    await work();
  } finally {
    lock.close();
  }
};

export interface PackedPackage {
  /** The tarball. */
  tarball: string;
  /** The unpacked tarball. */
  folder: string;
}

/**
 * Packs the package from its sources. All test files of the same sources share it.
 */
export const packedPackage = async (): Promise<PackedPackage> => {
  const files = sources();
  const folder = join(tmpdir(), `placard-package-${await fingerprint(files)}`);
  await oneAtATime(async () => {
    if (existsSync(folder)) return;
    const partial = await mkdtemp(`${folder}-`);
    await pack(files, partial);
    await rename(partial, folder);
  });
  return { tarball: globSync(join(folder, '*.tgz'))[0]!, folder: join(folder, 'package') };
};

const link = async (name: string, folder: string, target = name): Promise<void> => {
  await mkdir(dirname(join(folder, 'node_modules', name)), { recursive: true });
  await symlink(resolve(ROOT, 'node_modules', target), join(folder, 'node_modules', name));
};

/**
 * Installs the packed package, its dependencies and `packages` in a folder outside the repository. `packages`: names as the
 * application imports them, and their names in this repository if they differ.
 */
export const anApplication = async (packages: Record<string, string> = {}): Promise<string> => {
  const { folder: unpacked } = await packedPackage();
  const folder = await mkdtemp(join(tmpdir(), 'placard-application-'));
  await cp(unpacked, join(folder, 'node_modules', 'placard'), { recursive: true });
  const { dependencies } = JSON.parse(await readFile(join(unpacked, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) await link(name, folder);
  for (const [name, target] of Object.entries(packages)) await link(name, folder, target);
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  return folder;
};
