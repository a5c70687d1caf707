import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseWorkspace } from './parse-workspace.ts';
import { WorkspaceError } from './problems.ts';
import { createRegistry, type Registry } from './registry.ts';

/** The files that `path` stands for: itself, or every `.json` directly in it, by name. */
export const workspaceFiles = (path: string): string[] => {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
    .sort()
    .map((name) => join(path, name));
};

const contentOf = (file: string): unknown => {
  const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the text around the fault, which may hold a key.
    throw new WorkspaceError(file, ['the file: expected JSON, got something that cannot be parsed']);
  }
};

/** Reads a workspace file, or a folder of them. Throws a `WorkspaceError`, or the file system's error. */
export const loadWorkspaces = (path: string): Registry => {
  const files = workspaceFiles(path);
  if (files.length === 0) throw new WorkspaceError(path, ['the folder: expected at least one .json file']);
  return createRegistry(
    files.map((file) => ({ workspace: parseWorkspace(contentOf(file), file), source: file })),
  );
};
