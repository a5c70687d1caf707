// The tables in docs/reference/client.md must match the code: every option, method and notice needs a row.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const page = readFileSync('docs/reference/client.md', 'utf8');

/** First-column names of the table under a heading. */
const getRows = (heading: string): string[] =>
  page
    .split(`\n## ${heading}\n`)[1]!
    .split('\n## ')[0]!
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((row) => [...row.split(' | ')[0]!.matchAll(/`([\w.-]+)/g)].map(([, name]) => name!));

/** Members of an interface in its source file. */
const getMembers = (file: string, name: string): string[] => {
  const [, body = ''] =
    new RegExp(`interface ${name} \\{\\n(.*?)\\n\\}`, 's').exec(readFileSync(file, 'utf8')) ?? [];
  return [...body.matchAll(/^ {2}(\w+)\??[:(<]/gm)].map(([, member]) => member!);
};

const sorted = (names: Iterable<string>) => [...new Set(names)].sort();

test('the reference has a row for every option', () => {
  const own = getMembers('src/client/options/options.ts', 'CommonOptions');
  const groups = {
    delivery: getMembers('src/client/options/option-schema.ts', 'DeliveryOptions'),
    banners: getMembers('src/client/options/option-schema.ts', 'BannerOptions'),
  };
  const named = own.filter((name) => !Object.hasOwn(groups, name)).concat('endpoint', 'instance');
  for (const [group, members] of Object.entries(groups)) {
    expect(members.length).toBeGreaterThan(2);
    named.push(...members.map((member) => `${group}.${member}`));
  }
  expect(sorted(getRows('Options'))).toEqual(sorted(named));
});

test('the row of `platform` lists its members', () => {
  const row = page.split('\n').find((line) => line.startsWith('| `platform`'))!;
  const parts = [...row.matchAll(/`(\w+)`/g)].map(([, name]) => name!).slice(1);
  expect(sorted(parts)).toEqual(sorted(getMembers('src/client/options/options.ts', 'Platform')));
});

test('the reference has a row for every method', () => {
  expect(sorted(getRows('Methods'))).toEqual(sorted(getMembers('src/client/placard.ts', 'Placard')));
});

test('the reference has a row for every notice', () => {
  const [, notices = ''] =
    /type Notice =(.*?);\n\n/s.exec(readFileSync('src/client/notices.ts', 'utf8')) ?? [];
  const types = [...notices.matchAll(/type: '([\w-]+)'/g)].map(([, type]) => type!);
  expect(types.length).toBeGreaterThan(5);
  expect(sorted(getRows('Notices'))).toEqual(sorted(types));
});
