import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { createIssue } from '../issues.ts';
import { scanJson, WorkspaceError } from './issues.ts';
import { parseWorkspace } from './parse-workspace.ts';
import type { Workspace } from './workspace.ts';
import { createRegistry, type Registry } from './workspace.ts';

/** Returns whether the path is a folder; false for a dangling link. Reading such a link throws an error with its path. */
const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Returns `path` if it is a file; otherwise the `.json` files directly in it, sorted by name. */
const workspaceFiles = (path: string): string[] => {
  if (!isFolder(path)) return [path];
  return readdirSync(path)
    .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
    .sort()
    .map((name) => join(path, name))
    .filter((file) => !isFolder(file));
};

/** Snapshot of one file. */
export interface ReadFile {
  file: string;
  bytes: Uint8Array;
  /** Referenced public-key files by name; `null` if not readable. */
  keyFiles: ReadonlyMap<string, Uint8Array | null>;
}

/** Pattern of key file references. Uses the text, because the JSON may be invalid while the file is edited. */
const NAMED = /"user_token_keys_file"\s*:\s*"([^"\\]+)"/g;

const keyFile = (file: string, name: string) => resolve(dirname(file), name);

const readKeyFiles = (file: string, bytes: Uint8Array): ReadonlyMap<string, Uint8Array | null> => {
  const found = new Map<string, Uint8Array | null>();
  for (const [, name = ''] of new TextDecoder().decode(bytes).matchAll(NAMED)) {
    try {
      found.set(name, readFileSync(keyFile(file, name)));
    } catch {
      // `parseWorkspace` reports the missing file with its path.
      found.set(name, null);
    }
  }
  return found;
};

/** Metadata of the files, which shows changes without reading their content. */
interface FileMetadata {
  /** Text that changes if a file is changed, added or removed. */
  signature: string;
  /** Latest modification time in Unix milliseconds. */
  writtenAtMs: number;
}

/** Returns the metadata of the files of `path` and of the key files that they referenced when last read. */
export const readFileMetadata = (
  path: string,
  read: readonly Pick<ReadFile, 'file' | 'keyFiles'>[],
): FileMetadata => {
  const keyFiles = read.flatMap(({ file, keyFiles }) =>
    [...keyFiles.keys()].map((name) => keyFile(file, name)),
  );
  let writtenAtMs = 0;
  const lines = [...workspaceFiles(path), ...keyFiles].map((file) => {
    const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
    if (!stat) return `${file} does not exist`;
    writtenAtMs = Math.max(writtenAtMs, Number(stat.mtimeMs));
    return [file, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(' ');
  });
  return { signature: lines.join('\n'), writtenAtMs };
};

export const readFiles = (path: string): ReadFile[] =>
  workspaceFiles(path).map((file) => {
    const bytes = readFileSync(file);
    return { file, bytes, keyFiles: readKeyFiles(file, bytes) };
  });

const parseContent = ({ file, bytes }: ReadFile): unknown => {
  // `TextDecoder` also strips a byte order mark.
  const text = new TextDecoder().decode(bytes);
  const { fault, repeated } = scanJson(text);
  if (fault !== null) {
    throw new WorkspaceError(file, [{ path: [], ...createIssue('not_json', { position: fault }) }]);
  }
  if (repeated.length > 0) {
    throw new WorkspaceError(
      file,
      repeated.map((path) => ({ path, ...createIssue('duplicate_field', {}) })),
    );
  }
  return JSON.parse(text);
};

const toWorkspace = (read: ReadFile): Workspace =>
  parseWorkspace(
    parseContent(read),
    read.file,
    (name) => {
      const bytes = read.keyFiles.get(name);
      return bytes ? new TextDecoder().decode(bytes) : null;
    },
    dirname(read.file),
  );

/** Parses the files of `path`. Throws a `WorkspaceError` if a workspace is invalid. */
export const toRegistry = (path: string, files: ReadFile[]): Registry => {
  if (files.length === 0) throw new WorkspaceError(path, [{ path: [], ...createIssue('empty_folder', {}) }]);
  const errors: WorkspaceError[] = [];
  const sources = files.flatMap((each) => {
    try {
      return [{ workspace: toWorkspace(each), source: each.file }];
    } catch (error) {
      if (!(error instanceof WorkspaceError)) throw error;
      errors.push(error);
      return [];
    }
  });
  const [first] = errors;
  if (first && errors.length === 1) throw first;
  if (first) {
    throw new WorkspaceError(
      path,
      errors.flatMap(({ source, issues }) => issues.map((issue) => ({ ...issue, file: basename(source) }))),
      errors.every(({ isComplete }) => isComplete),
    );
  }
  return createRegistry(sources);
};

/** Reads a workspace file or a folder of workspace files. Throws a `WorkspaceError` or the file system's error. */
export const loadWorkspaces = (path: string): Registry => toRegistry(path, readFiles(path));
