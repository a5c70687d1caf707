import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { DOCUMENT_MEMBERS, OPERATORS } from '../../src/service/campaigns/audience.ts';
import { DOING_MEMBERS } from '../../src/service/campaigns/doing-problems.ts';
import { personaliseContext } from '../../src/service/campaigns/personalise-context.ts';
import { workspaceFile } from '../../src/service/workspace/file-schema.ts';

const reference = readFileSync('src/service/workspace/README.md', 'utf8');

/** Names in the first column of the tables of a text. */
const namesIn = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name!));

/** What stands under a heading, up to the next one. */
const sectionOf = (heading: string): string => {
  const [, after = ''] = reference.split(`\n${heading}\n`);
  return after.split(/\n#{2,3} /)[0]!;
};

interface Schema {
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  additionalProperties?: Schema | false;
  properties?: Record<string, Schema>;
}

/** Names of members by the path of what has them. */
const membersOf = (schema: Schema, path = '', found = new Map<string, Set<string>>()) => {
  for (const each of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) membersOf(each, path, found);
  if (schema.items) membersOf(schema.items, `${path}[]`, found);
  if (schema.additionalProperties) membersOf(schema.additionalProperties, `${path}.*`, found);
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    found.set(path, (found.get(path) ?? new Set()).add(name));
    // Every limit has the same members.
    const inside = path === 'limits' ? 'limits.*' : path === '' ? name : `${path}.${name}`;
    membersOf(member, inside, found);
  }
  return found;
};

const sorted = (names: Iterable<string>) => [...new Set(names)].sort();
const members = membersOf(z.toJSONSchema(workspaceFile, { io: 'input', unrepresentable: 'any' }) as never);

test.each([...members])('the reference names every member of "%s", and no other', (path, names) => {
  const heading = path === '' ? '## The file' : `### \`${path}\``;
  expect(sorted(namesIn(sectionOf(heading)))).toEqual(sorted(names));
});

test('the reference has no heading for what is not in the schema', () => {
  const headings = [...reference.matchAll(/^### `(.+)`$/gm)].map(([, path]) => path!);
  expect(sorted(headings)).toEqual(sorted([...members.keys()].filter((path) => path !== '')));
});

test('the reference names everything that an audience may ask for, and no more', () => {
  const names = namesIn(sectionOf('## `audience`: who sees a campaign'));
  const doings = Object.values(DOING_MEMBERS).flatMap((each) => Object.keys(each));
  expect(sorted(names)).toEqual(sorted([...DOCUMENT_MEMBERS, ...doings, ...Object.keys(OPERATORS)]));
});

test('the reference names everything that a text may print beside standard attributes', () => {
  const { user } = personaliseContext('u-1', null, undefined, new Map());
  const [row = ''] = sectionOf('## Liquid: what a text may print').match(/^\| `\$\{…\}`.*$/m) ?? [];
  const [, , said = ''] = row.split('|');
  expect(sorted([...said.matchAll(/`([^`]+)`/g)].map(([, name]) => name!))).toEqual(
    sorted(Object.keys(user)),
  );
});
