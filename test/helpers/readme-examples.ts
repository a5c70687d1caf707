import { readFileSync } from 'node:fs';

/** A fenced block of the README; `use` comes from a `<!-- example: … -->` line right above it. */
export interface Example {
  language: string;
  /** `node`: runs in Node · `page`: runs in a browser page · `vitest`: is a test · `types`: is compiled only · `shell`: runs in a shell */
  use: string;
  code: string;
  line: number;
}

const BLOCK = /(?:<!-- example: (\w+) -->\n)?```(\w+)\n([\s\S]*?)\n```/g;

/** All code blocks of the README in order. */
export const readmeExamples = (path = 'README.md'): Example[] => {
  const text = readFileSync(path, 'utf8');
  return [...text.matchAll(BLOCK)].map((match) => ({
    language: match[2]!,
    use: match[1] ?? '',
    code: match[3]!,
    line: text.slice(0, match.index).split('\n').length,
  }));
};
