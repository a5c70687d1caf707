// Which test files need modules and globals of their own.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Code that changes globals of its process: mocks, stubs, fake timers, the environment, the folder, listeners. */
const CHANGES = [
  /\bvi\.(?:mock|doMock|hoisted|stub|spyOn|useFakeTimers|setSystemTime|resetModules)/,
  /\bprocess\.(?:chdir|on|once)\(/,
  /(?:\bprocess\.env\S*|\b(?:globalThis|console)\.\w+|\.prototype\.\w+) = |\bdelete (?:process|globalThis)\b/,
  /\bObject\.(?:defineProperty|assign)\((?:process|globalThis|console|\w+\.prototype)\b/,
];
const IMPORT = /from '(\.{1,2}\/[^']+\.tsx?)'/g;

/** Returns a test file and the files of `test/` that it imports, directly or not. */
const findFiles = (path: string, found = new Map<string, string>()): Map<string, string> => {
  // An import in a text of the test names no file.
  if (found.has(path) || !path.startsWith('test/') || !existsSync(path)) return found;
  const text = readFileSync(path, 'utf8');
  found.set(path, text);
  for (const [, imported] of text.matchAll(IMPORT)) findFiles(join(dirname(path), imported!), found);
  return found;
};

/** Returns whether a test file changes globals, itself or in a helper that it imports. */
export const changesGlobals = (path: string): boolean =>
  [...findFiles(path).values()].some((text) => CHANGES.some((change) => change.test(text)));
