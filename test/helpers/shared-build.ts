import { createHash } from 'node:crypto';
import { existsSync, globSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Read once, because a test may change TMPDIR and delete its folder. */
const FOLDER = tmpdir();
const PREFIX = 'placard-bundle-';
const OLD_MS = 24 * 60 * 60 * 1000;

/** Removes builds that were not used for a day. */
const removeOldBuilds = async (): Promise<void> => {
  for (const name of await readdir(FOLDER)) {
    if (!name.startsWith(PREFIX)) continue;
    const folder = join(FOLDER, name);
    // Another test process may have removed it.
    const used = await stat(folder).catch(() => undefined);
    if (used && Date.now() - used.mtimeMs > OLD_MS) await rm(folder, { recursive: true, force: true });
  }
};

type Build = (folder: string) => Promise<unknown>;

const builds = new Map<string, Promise<string>>();

/**
 * Builds into a folder that all test files and runs with the same sources share. Returns the folder, which is read-only.
 * `key`: name and options of the build. `sources`: files and patterns, relative to the repository root; the helpers that configure
 * a build are always among them.
 */
export const sharedBuild = (key: unknown, sources: string[], build: Build): Promise<string> => {
  const name = JSON.stringify(key);
  // Once per process, because hashing all sources takes a quarter of a second.
  const built = builds.get(name) ?? findOrBuild(name, sources, build);
  builds.set(name, built);
  built.catch(() => builds.delete(name));
  return built;
};

const findOrBuild = async (name: string, sources: string[], build: Build): Promise<string> => {
  const hash = createHash('sha256').update(name);
  const files = globSync([...sources, 'test/helpers/*.ts', 'package-lock.json'], {
    cwd: ROOT,
    withFileTypes: true,
  })
    .filter((entry) => entry.isFile())
    .map((entry) => resolve(entry.parentPath, entry.name))
    .sort();
  for (const file of files) hash.update(file).update(await readFile(file));
  const folder = join(FOLDER, `${PREFIX}${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(folder)) {
    // Marks the build as used before another test process removes old ones.
    await utimes(folder, new Date(), new Date());
    return folder;
  }
  await removeOldBuilds();
  const partial = await mkdtemp(`${folder}-`);
  await build(partial);
  // If two test processes made the same build, the first rename wins.
  await rename(partial, folder).catch(async (error) => {
    await rm(partial, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  });
  return folder;
};
