import { createHash } from 'node:crypto';
import { type FSWatcher, statSync, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { getErrorCode, type Log } from '../log.ts';
import { formatIssue } from './issues.ts';
import { fileFingerprints, type ReadFile, readFiles, toRegistry } from './load-workspaces.ts';
import type { Registry } from './workspace.ts';

/** Editors write a file in several steps: wait for this long a silence before reading it. */
const SETTLE_MS = 50;
/** Network drives and some containers report no changes: a look at the file at this pace finds them. */
const POLL_MS = 1_000;
/** Some file systems tell two writes of less than two seconds apart by nothing: a file that is as new is read again. */
const COARSE_MS = 2_000;

/** Where a service gets its workspaces from, asked anew for each request. */
export interface WorkspaceSource {
  /** The workspaces as they are now. */
  registry(): Registry;
  /** Watches no more. */
  stop(): void;
}

/** A source that reads files. */
export interface WatchedSource extends WorkspaceSource {
  /** Reads the files now, even if they look unchanged. A file that cannot be used changes nothing, and is logged. */
  reload(): void;
}

/** How changes of workspace files are noticed. */
export interface WatchOptions {
  log: Log;
  pollMs?: number;
  /** Called after a change was read, with the problem where it could not be used. */
  onReload?: (problem: Error | null) => void;
}

const fingerprint = (files: ReadFile[]): string => {
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

const idsOf = ({ workspaces }: Registry): string[] => workspaces.map(({ workspaceId }) => workspaceId);

/** Logs the workspaces that are served, and the warnings of their files. */
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

/** Reads `path` now (throws where it cannot be used) and again whenever it changes; a bad edit keeps what was there. */
export const watchWorkspaces = (
  path: string,
  { log, pollMs = POLL_MS, onReload }: WatchOptions,
): WatchedSource => {
  let readAtMs = Date.now();
  let seen = fileFingerprints(path, []);
  // The same bytes are compared and used: a file that is read twice may be half written the second time.
  let files = readFiles(path);
  let known = fingerprint(files);
  let current = toRegistry(path, files);
  logLoaded(current, log);
  /** The last problem of reading that was logged. */
  let unreadable: string | undefined;
  let settling: NodeJS.Timeout | undefined;

  const look = (isAsked = false) => {
    try {
      const marks = fileFingerprints(path, files);
      if (!isAsked && marks.marks === seen.marks && marks.writtenAtMs < readAtMs - COARSE_MS) {
        unreadable = undefined;
        return;
      }
      const time = Date.now();
      files = readFiles(path);
      readAtMs = time;
      seen = marks;
    } catch (problem) {
      // While an editor replaces the file there is a moment without one; the next look finds it.
      const code = getErrorCode(problem);
      const file = problem instanceof Error && 'path' in problem ? String(problem.path) : path;
      const found = `${code} ${file}`;
      if (found !== unreadable) log.warn({ path: file, code }, 'workspace not readable');
      unreadable = found;
      return;
    }
    unreadable = undefined;
    const found = fingerprint(files);
    if (found === known) {
      if (isAsked) log.info({ path }, 'workspace unchanged');
      return;
    }
    known = found;
    try {
      const before = idsOf(current);
      current = toRegistry(path, files);
      const workspaces = idsOf(current);
      log.info({ path, workspaces }, 'workspace reloaded');
      logLoaded(current, log);
      const gone = before.filter((id) => !workspaces.includes(id));
      // Often only its ID was edited: users and events are found by it, and all of them seem lost.
      if (gone.length > 0) log.warn({ path, gone }, 'workspace gone: its users and events wait for its ID');
      onReload?.(null);
    } catch (problem) {
      const error = problem instanceof Error ? problem : new Error(String(problem));
      log.error({ path, problem: error.message }, 'workspace not reloaded: the one before stays in use');
      onReload?.(error);
    }
  };
  const soon = () => {
    clearTimeout(settling);
    settling = setTimeout(() => look(), SETTLE_MS);
    settling.unref();
  };

  let watcher: FSWatcher | undefined;
  try {
    // The folder, not the file: an editor that replaces a file leaves a watch on the file behind.
    const isFolder = statSync(path).isDirectory();
    const folder = isFolder ? path : dirname(path);
    const only = isFolder ? null : basename(path);
    watcher = watch(folder, { persistent: false }, (_event, name) => {
      if (only === null || name === null || name === only) soon();
    });
    watcher.on('error', () => watcher?.close()); // Polling goes on.
  } catch (problem) {
    log.warn({ path, code: getErrorCode(problem) }, 'workspace polled: it cannot be watched');
  }
  const polling = setInterval(() => look(), pollMs);
  polling.unref();

  return {
    registry: () => current,
    reload: () => look(true),
    stop: () => {
      watcher?.close();
      clearInterval(polling);
      clearTimeout(settling);
    },
  };
};
