import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { AVOIDED, findWording } from '../helpers/wording.ts';

/** Accepted findings, by file and part of the text. */
const EXCEPTIONS: readonly { file: string; text: string }[] = [
  // HTML element.
  { file: 'src/templates/base-css.ts', text: '.image picture' },
  // SQL.
  { file: 'test/ingestion/model.test.ts', text: 'people' },
  { file: 'test/ingestion/postgres.test.ts', text: 'INSERT INTO gone' },
  { file: 'test/service/store/postgres-unreplicated.test.ts', text: 'synchronous_standby_names' },
  { file: 'test/service/store/sqlite-overlap.test.ts', text: 'CREATE TRIGGER' },
  { file: 'test/service/store/sqlite-overlap.test.ts', text: 'SELECT external_id' },
];

const EXAMPLES = [
  'Answers the request',
  'the API refuses it',
  'a forgotten user',
  'an uploaded picture',
  'a lane',
  'people see it',
  'read anew',
  'the client gives up',
  '`null` where there is none',
  'a text that is no JSON',
  'so long as it runs',
  'the user for whom it is',
  'the late chunk',
  'moves under the reader’s eyes',
  'What a route gets',
  'Of purchases: the sum',
];

describe('the word list', () => {
  test('finds an example of each pattern', () => {
    for (const [index, { avoid }] of AVOIDED.entries()) expect(EXAMPLES[index]).toMatch(avoid);
  });

  test('allows the standard forms', () => {
    const allowed = [
      'There is no such campaign',
      'What is a slot?',
      'it is no longer there',
      'Returns the response',
    ];
    for (const text of allowed) expect(AVOIDED.filter(({ avoid }) => avoid.test(text))).toEqual([]);
  });

  test('has no findings in comments, test titles, messages and pages', () => {
    const isException = ({ file, text }: { file: string; text: string }) =>
      EXCEPTIONS.some((exception) => exception.file === file && text.includes(exception.text));
    const findings = findWording().filter((each) => !isException(each));
    expect(
      findings.map(({ file, line, found, write }) => `${file}:${line} has "${found}", write: ${write}`),
    ).toEqual([]);
  });
});

const COMMENTS = /\/\*[\s\S]*?\*\/|\/\/.*/g;
const IDENTIFIER = /\b(?:[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[A-Za-z]+(?:_[A-Za-z]+)+)\b/g;

/** Names of platforms and libraries that occur only in comments. */
const EXTERNAL_NAMES = [
  'addJavascriptInterface',
  'addWebMessageListener',
  'allow_false',
  'ERR_NETWORK_CHANGED',
  'indexedDB',
  'keepalive_timeout',
  'mmap_size',
  'moveBefore',
  'OTEL_TRACES_SAMPLER',
  'PlacardBridge',
  'pt_BR',
  'SecurityError',
  'toJSON',
  'where_exp',
];

test('comments name only identifiers that exist', () => {
  const sources = globSync('src/**/*.{ts,tsx}').map((file) => ({ file, text: readFileSync(file, 'utf8') }));
  const code = sources.map(({ text }) => text.replace(COMMENTS, '')).join('\n');
  const known = new Set([...(code.match(/\w+/g) ?? []), ...EXTERNAL_NAMES]);
  const unknown = sources.flatMap(({ file, text }) =>
    [...(text.match(COMMENTS) ?? []).join('\n').matchAll(/`([^`\n]+)`/g)]
      .flatMap(([, quoted]) => quoted!.match(IDENTIFIER) ?? [])
      .filter((name) => !known.has(name))
      .map((name) => `${file}: ${name}`),
  );
  expect(known.size).toBeGreaterThan(1_000);
  expect(unknown).toEqual([]);
});
