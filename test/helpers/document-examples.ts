import { globSync, readFileSync } from 'node:fs';

/** A fenced block of a document; `use` comes from a `<!-- example: … -->` line right above it. */
export interface Example {
  file: string;
  language: string;
  /**
   * `node`: runs in Node · `page`: runs in a browser page · `vitest`: is a test · `types`: is compiled only · `vue`, `next`:
   * is part of an app that is built · others have a test of their own
   */
  use: string;
  code: string;
  line: number;
  /** The file it is said to be in, by a comment on its first line. */
  name: string | undefined;
}

/** What people read: the README and the pages beside it. */
export const DOCUMENTS: readonly string[] = ['README.md', ...globSync('docs/*.md').sort()];

const BLOCK = /(?:<!-- example: (\w+) -->\n)?```(\w+)\n([\s\S]*?)\n```/g;

/** All code blocks of a document in order. */
export const examplesIn = (file: string): Example[] => {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(BLOCK)].map((match) => ({
    file,
    language: match[2]!,
    use: match[1] ?? '',
    code: match[3]!,
    line: text.slice(0, match.index).split('\n').length,
    name: /^\/\/ ([\w./-]+\.tsx?)$/.exec(match[3]!.split('\n')[0]!)?.[1],
  }));
};

export const allExamples = (): Example[] => DOCUMENTS.flatMap(examplesIn);
