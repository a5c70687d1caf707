import { createHash } from 'node:crypto';
import { type FSWatcher, statSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { getErrorCode, type Log } from '../log.ts';
import { formatIssue } from './issues.ts';
import { type ReadFile, readFileMetadata, readFiles, toRegistry } from './load-workspaces.ts';
import type { Registry } from './workspace.ts';

/** Debounce in milliseconds, because editors write a file in several steps. */
const SETTLE_MS = 50;
/** Polling interval. Polling is needed because network drives and some containers do not report changes. */
const POLL_MS = 1_000;
/**
 * Coarsest resolution of modification times. Files modified within this time are read again, because a second write may have the
 * same timestamp.
 */
const COARSE_MS = 2_000;

/** Source of the workspaces of a service, read for each request. */
export interface WorkspaceSource {
  registry(): Registry;
  /** Returns whether the latest edit was rejected, so that the previous workspaces stay in use. Default: never. */
  isEditRejected?(): boolean;
  stop(): void;
}

/** Workspace source that watches files. */
export interface WatchedSource extends WorkspaceSource {
  /** Reads the files now, even if they seem unchanged. An invalid file is logged and otherwise ignored. */
  reload(): void;
}

export interface WatchOptions {
  log: Log;
  pollMs?: number;
  /** Called after a reload, with the problem if the reload failed. */
  onReload?: (problem: Error | null) => void;
}

const hashContent = (files: ReadFile[]): string => {
  const hash = createHash('sha256');
  for (const { file, bytes, keyFiles } of files) {
    hash.update(file).update('\0').update(bytes);
    for (const [name, keys] of keyFiles)
      hash
        .update(name)
        .update('\0')
        .update(keys ?? 'not readable');
  }
  return hash.digest('hex');
};

const getWorkspaceIds = ({ workspaces }: Registry): string[] =>
  workspaces.map(({ workspaceId }) => workspaceId);

/** Logs the loaded workspaces and their warnings. */
const logLoaded = ({ workspaces }: Registry, log: Log) => {
  for (const { workspaceId, campaigns, placementIds, apiKeys, warnings } of workspaces) {
    const active = campaigns.filter(({ status }) => status === 'active').length;
    const keys = apiKeys.map(({ name }) => name);
    const placements = [...placementIds];
    log.info(
      { workspace: workspaceId, campaigns: campaigns.length, active, placements, keys },
      'workspace loaded',
    );
    for (const warning of warnings)
      log.warn({ workspace: workspaceId, warning: formatIssue(warning) }, 'workspace file');
  }
};

/**
 * Loads `path` now and after each change. Throws if the first load fails. After a later invalid edit, the previous workspaces
 * stay.
 */
export const watchWorkspaces = (
  path: string,
  { log, pollMs = POLL_MS, onReload }: WatchOptions,
): WatchedSource => {
  let readAtMs = Date.now();
  let lastMetadata = readFileMetadata(path, []);
  // Compares and parses the same bytes, because a second read may see a half-written file.
  let files = readFiles(path);
  let lastHash = hashContent(files);
  let current = toRegistry(path, files);
  logLoaded(current, log);
  let isEditRejected = false;
  /** Time since when a workspace is missing, by workspace ID. */
  let missingSinceMs = new Map<string, number>();
  /** Last read problem that was logged. */
  let unreadable: string | undefined;
  let settling: NodeJS.Timeout | undefined;

  const refresh = (isRequested = false) => {
    try {
      const metadata = readFileMetadata(path, files);
      if (
        !isRequested &&
        metadata.signature === lastMetadata.signature &&
        metadata.writtenAtMs < readAtMs - COARSE_MS
      ) {
        unreadable = undefined;
        return;
      }
      const time = Date.now();
      files = readFiles(path);
      readAtMs = time;
      lastMetadata = metadata;
    } catch (problem) {
      // While an editor replaces the file, it is briefly missing. The next poll finds it.
      const code = getErrorCode(problem);
      const file = problem instanceof Error && 'path' in problem ? String(problem.path) : path;
      const found = `${code} ${file}`;
      if (found !== unreadable) log.warn({ path: file, code }, 'workspace not readable');
      unreadable = found;
      return;
    }
    unreadable = undefined;
    const hash = hashContent(files);
    if (hash === lastHash) {
      missingSinceMs.clear();
      if (isRequested) log.info({ path }, 'workspace unchanged');
      return;
    }
    try {
      const loaded = toRegistry(path, files);
      const workspaces = getWorkspaceIds(loaded);
      const gone = getWorkspaceIds(current).filter((id) => !workspaces.includes(id));
      const nowMs = Date.now();
      missingSinceMs = new Map(gone.map((id) => [id, missingSinceMs.get(id) ?? nowMs]));
      // While a file of a folder is replaced, it may be missing. Its clients would get a 401 and pause for an hour.
      if (!isRequested && [...missingSinceMs.values()].some((sinceMs) => nowMs - sinceMs < 2 * pollMs)) {
        lastMetadata = { ...lastMetadata, signature: '' };
        return;
      }
      lastHash = hash;
      missingSinceMs.clear();
      current = loaded;
      isEditRejected = false;
      log.info({ path, workspaces }, 'workspace reloaded');
      logLoaded(current, log);
      // Warns because users and events are stored by workspace ID, so editing only the ID makes them seem lost.
      if (gone.length > 0) log.warn({ path, gone }, 'workspace removed: its users and events are kept');
      onReload?.(null);
    } catch (problem) {
      lastHash = hash;
      isEditRejected = true;
      const error = problem instanceof Error ? problem : new Error(String(problem));
      log.error({ path, problem: error.message }, 'workspace not reloaded: previous one stays in use');
      onReload?.(error);
    }
  };
  const refreshSoon = () => {
    clearTimeout(settling);
    settling = setTimeout(() => refresh(), SETTLE_MS);
    settling.unref();
  };

  let watcher: FSWatcher | undefined;
  try {
    // Watches the folder, because a watch on the file ends when an editor replaces the file.
    const isFolder = statSync(path).isDirectory();
    const folder = isFolder ? path : dirname(path);
    const only = isFolder ? null : basename(path);
    watcher = watch(folder, { persistent: false }, (_event, name) => {
      if (only === null || name === null || name === only) refreshSoon();
    });
    watcher.on('error', () => watcher?.close()); // Polling continues.
  } catch (problem) {
    log.warn({ path, code: getErrorCode(problem) }, 'workspace polled: file watch failed');
  }
  const polling = setInterval(() => refresh(), pollMs);
  polling.unref();

  return {
    registry: () => current,
    isEditRejected: () => isEditRejected,
    reload: () => refresh(true),
    stop: () => {
      watcher?.close();
      clearInterval(polling);
      clearTimeout(settling);
    },
  };
};
