import { globSync, readFileSync } from 'node:fs';

/** A fenced code block of a document; `use` comes from an `<!-- example: … -->` line right above it. */
export interface Example {
  file: string;
  language: string;
  /**
   * `node`: runs in Node · `page`: runs in a browser · `vitest`: is a test · `types`: is compiled only · `vue`, `next`:
   * is part of an app that is built · others have their own test
   */
  use: string;
  code: string;
  line: number;
  /** File name in the comment on its first line. */
  name: string | undefined;
}

/** README and the pages of `docs/`. */
export const DOCUMENTS: readonly string[] = [
  'README.md',
  ...globSync('docs/{quickstart,guides,reference,concepts}/*.md').sort(),
];

/** In a list, blocks are indented. */
const BLOCK = /(?:<!-- example: (\w+) -->\n)?^( *)```(\w+)\n([\s\S]*?)\n\2```$/gm;

/** Returns the code blocks of a document in order. */
export const examplesIn = (file: string): Example[] => {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(BLOCK)].map((match) => ({
    file,
    language: match[3]!,
    use: match[1] ?? '',
    code: match[4]!,
    line: text.slice(0, match.index).split('\n').length,
    name: /^\/\/ ([\w./-]+\.tsx?)$/.exec(match[4]!.split('\n')[0]!)?.[1],
  }));
};

export const allExamples = (): Example[] => DOCUMENTS.flatMap(examplesIn);
