import { globSync, readFileSync } from 'node:fs';

/** Words that the glossary does not have, and patterns that hide who does what. */
export const AVOIDED: readonly { avoid: RegExp; write: string }[] = [
  { avoid: /\banswer(?:s|ed|ing)?\b/i, write: 'response, respond' },
  { avoid: /\brefus(?:e|es|ed|al|ing)\b/i, write: 'reject' },
  { avoid: /\bforg(?:et|ets|ot|otten)\b/i, write: 'erase, remove' },
  { avoid: /\bpictures?\b(?!-in-picture)(?<!-in-picture)/i, write: 'image' },
  { avoid: /\b(?:deed|lane|heir)s?\b/i, write: 'conversion event, counter shard, merge target' },
  { avoid: /\b(?:people|somebody|nobody|no one)\b/i, write: 'users, operators' },
  {
    avoid: /\banew\b|\bin vain\b|\bat one go\b|\bbut for\b|\ball the same\b|\bmeanwhile\b/i,
    write: 'again, without success, at once, except, anyway',
  },
  { avoid: /\b(?:gives?|gave) up\b/i, write: 'stop, drop' },
  { avoid: /\bwhere (?:there|it|they|one|none|no|nothing)\b/i, write: 'if, when' },
  { avoid: /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b)/i, write: 'not, invalid' },
  { avoid: /\bso (?:many|long)\b/i, write: 'the number' },
  { avoid: /\b(?:of|for|to) whom\b/i, write: 'a clause with a subject' },
  { avoid: /\blate chunk\b/i, write: 'deferred chunk' },
  { avoid: /\blayout moves?\b|\breader['’]s eyes\b/i, write: 'layout shift' },
  { avoid: /^(?:What|Whom|Whose|Who)\b(?!.*\?)/, write: 'a noun, or a verb' },
  { avoid: /^(?:Of|By) [\w\s]{1,30}[:,]/, write: 'a noun, or a verb' },
];

export interface Text {
  file: string;
  line: number;
  text: string;
}

const lineAt = (source: string, index: number) => source.slice(0, index).split('\n').length;

const TOKENS =
  /(?<block>\/\*[\s\S]*?\*\/)|(?<line>\/\/[^\n]*)|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`/g;
const SENTENCE = /\w\s+\w+\s+\w/;

/** Comments, and strings of three words and more. In a test these are its titles. */
const textsOfCode = (file: string): Text[] => {
  const source = readFileSync(file, 'utf8');
  return [...source.matchAll(TOKENS)].flatMap(({ 0: token, index, groups }) => {
    const line = lineAt(source, index);
    if (groups!['block'] !== undefined || groups!['line'] !== undefined) {
      const text = token
        .replace(/^\/[/*]+|\*\/$/g, '')
        .replace(/^\s*\* ?/gm, '')
        .replace(/`[^`]*`/g, '`…`')
        .trim();
      return [{ file, line, text }];
    }
    const text = token.slice(1, -1);
    return SENTENCE.test(text) ? [{ file, line, text: text.replace(/\$\{[^}]*\}/g, '…') }] : [];
  });
};

/** Lines of a page without code. */
const textsOfPage = (file: string): Text[] => {
  let isCode = false;
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((text, index) => {
      if (/^\s*```/.test(text)) isCode = !isCode;
      const prose = text.replace(/`[^`]*`/g, '`…`').replace(/\]\([^)]*\)/g, ']');
      return isCode ? [] : [{ file, line: index + 1, text: prose.replace(/^#+ /, '') }];
    });
};

export interface Finding extends Text {
  found: string;
  write: string;
}

const findingsIn = ({ file, line, text }: Text): Finding[] =>
  AVOIDED.flatMap(({ avoid, write }) => {
    const [found] = avoid.exec(text) ?? [];
    return found === undefined ? [] : [{ file, line, text, found, write }];
  });

/** Every finding in code, tests, deployment files and pages. */
export const findWording = (): Finding[] => {
  const code = globSync('{src,test,demo}/**/*.{ts,tsx}').filter((file) => !/wording|node_modules/.test(file));
  const pages = [
    ...globSync('docs/**/*.md', { exclude: ['docs/api'] }),
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'llms.txt',
  ];
  return [...code.flatMap(textsOfCode), ...pages.flatMap(textsOfPage)].flatMap(findingsIn);
};
