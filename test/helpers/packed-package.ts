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

/** What the package is made of, from the repository's root. */
const SOURCES = [
  '{src,docs}/**/*.*',
  'deploy/*',
  'demo/{workspace.json,loyalty.csv,public/images/hero-*.svg}',
  '*.{json,ts,md,txt}',
  'LICENSE',
  // vite.config.ts imports it.
  'test/helpers/{patience,machine}.ts',
];
const sources = (): string[] =>
  globSync(SOURCES, { cwd: ROOT, exclude: (path) => /node_modules|docs\/api\/html/.test(path) }).sort();

const fingerprint = async (files: string[]): Promise<string> => {
  const hash = createHash('sha256');
  for (const file of files) hash.update(file).update(await readFile(join(ROOT, file)));
  return hash.digest('hex').slice(0, 16);
};

/** Packs in a copy without a `dist`, but with a file in its place that an earlier build could have left. */
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

/** Test files run in processes of their own, and each would pack. The lock is SQLite's, so that it ends with its process. */
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
  /** The file that would be published. */
  tarball: string;
  /** The same, unpacked. */
  folder: string;
}

/**
 * The package as it would be published, made from the sources alone. All test files of one state of the sources share it.
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
 * A folder outside the repository with the packed package and its dependencies installed, and nothing else but `packages`:
 * names as the application imports them, and as they are in this repository where that differs.
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
