// Lists of the documentation that must contain every entry of a table in the code.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  CLIENT_PERMISSIONS,
  EVENT_TYPES,
  type LimitDefinition,
  RATE_LIMITS,
  SERVER_PERMISSIONS,
} from '../../src/protocol/index.ts';
import { WEBHOOK_EVENT_NAMES } from '../../src/service/data-out/event-types.ts';
import { TEMPLATE_CATALOGUE } from '../../src/templates/index.ts';
import { API_ROUTES } from '../helpers/api-routes.ts';

/** Returns the text under a heading, up to the next heading of the same level. */
const getSection = (file: string, heading: string): string => {
  const [, after] = readFileSync(file, 'utf8').split(`\n${heading}\n`);
  if (after === undefined) throw new Error(`${file} has no '${heading}'`);
  return after.split(new RegExp(`\n${heading.split(' ')[0]} `))[0]!;
};

/** Returns the code spans of a text, without HTTP methods. Expands braces with commas: `/kpi/{dau,mau}` is two names. */
const namesIn = (text: string): string[] =>
  [...text.matchAll(/`(?:[A-Z]+ )?([^`\n]+)`/g)].flatMap(([, code = '']) => {
    const [, start = '', list = '', end = ''] = /^(.*)\{([\w,]+,\w+)\}(.*)$/.exec(code) ?? [];
    return list === '' ? code : list.split(',').map((each) => start + each + end);
  });

const templates = TEMPLATE_CATALOGUE.map(({ name }) => name);
/** Endpoints of the contract, which has none of Placard's extensions. */
const paths = API_ROUTES.map(({ path }) => path).filter((path) => !path.startsWith('/placard/'));

test.each([
  ['template', 'docs/reference/client.md', '## Templates', templates],
  ['event type', 'docs/reference/client.md', '## Methods', EVENT_TYPES.map((type) => `'${type}'`)],
  ['event type', 'docs/reference/contract.md', '## 2. Endpoints', EVENT_TYPES],
  ['exported event', 'docs/guides/streaming.md', '## Event types', WEBHOOK_EVENT_NAMES],
  ['endpoint', 'docs/reference/contract.md', '## 2. Endpoints', paths],
])('lists every %s in %s, %s', (_, file, heading, expected) => {
  const listed = namesIn(getSection(file, heading));
  expect(expected.filter((name) => !listed.includes(name))).toEqual([]);
});

const PERIODS: Record<number, string> = { 1: 's', 3: '3 s', 60: 'min', 3600: 'hour' };

test('section 6 of the contract has the default of every rate limit', () => {
  const section = getSection('docs/reference/contract.md', '## 6. Limits');
  const listed = [...section.matchAll(/^\| Requests \| (.+) \| ([\d,]+ \/ (?:\d+ )?\w+)/gm)];
  const expected = Object.values<LimitDefinition>(RATE_LIMITS).map(({ counts, workspace, user }) => {
    const { requests, windowSeconds } = workspace ?? user!;
    return [counts, `${requests.toLocaleString('en')} / ${PERIODS[windowSeconds]}`];
  });
  expect(listed.map(([, counts, rate]) => [counts, rate])).toEqual(expected);
});

test('the server key of the demo has every permission', () => {
  const { api_keys } = JSON.parse(readFileSync('demo/workspace.json', 'utf8')) as {
    api_keys: { permissions: string[] }[];
  };
  const held = api_keys.flatMap(({ permissions }) => permissions);
  expect([...held].sort()).toEqual([...CLIENT_PERMISSIONS, ...SERVER_PERMISSIONS].sort());
});
