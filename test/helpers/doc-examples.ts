import { globSync, readFileSync } from 'node:fs';

/** A fenced block of a page; `use` comes from a `<!-- example: … -->` line right above it. */
export interface Example {
  /** The page it is in. */
  page: string;
  line: number;
  language: string;
  /**
   * `node`: runs in Node · `page`: runs in a browser page · `vitest`: is a test · `types`: is compiled only · `text`: is not
   * checked, as it needs a package that is not here
   */
  use: string;
  code: string;
  /** The file it is said to be in, by a comment on its first line. */
  file: string | undefined;
}

const BLOCK = /(?:<!-- example: (\w+) -->\n)?```(\w+)\n([\s\S]*?)\n```/g;

/** The README and the pages of `docs/`. */
export const PAGES = ['README.md', ...globSync('docs/*.md').sort()];

/** All code blocks in order. */
export const docExamples = (): Example[] =>
  PAGES.flatMap((page) => {
    const text = readFileSync(page, 'utf8');
    return [...text.matchAll(BLOCK)].map((match) => ({
      page,
      line: text.slice(0, match.index).split('\n').length,
      language: match[2]!,
      use: match[1] ?? '',
      code: match[3]!,
      file: /^\/\/ ([\w./-]+\.tsx?)$/m.exec(match[3]!.split('\n')[0]!)?.[1],
    }));
  });
