import { globSync, readFileSync } from 'node:fs';

/** A fenced block of a document; `use` comes from a `<!-- example: … -->` line right above it. */
export interface Example {
  file: string;
  language: string;
  /** `node`: runs in Node · `page`: runs in a browser page · `vitest`: is a test · `types`: is compiled only; others have a test of their own */
  use: string;
  code: string;
  line: number;
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
  }));
};

export const allExamples = (): Example[] => DOCUMENTS.flatMap(examplesIn);
