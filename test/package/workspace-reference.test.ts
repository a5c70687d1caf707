// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ACTIVITY_MEMBERS, FIELD_NAMES } from '../../src/service/campaigns/audience/fields.ts';
import { OPERATORS } from '../../src/service/campaigns/audience/operators.ts';
import { personaliseContext } from '../../src/service/campaigns/variables.ts';
import { workspaceJsonSchema } from '../../src/service/workspace/file-schema.ts';
import { parseWorkspace } from '../../src/service/workspace/parse-workspace.ts';
import { aCampaign, aVariant, aWorkspace } from '../helpers/a-workspace.ts';
import { examplesIn } from '../helpers/document-examples.ts';

const reference = readFileSync('docs/reference/workspace-file.md', 'utf8');

/** First-column names of all tables in a text. */
const namesIn = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name!));

/** Text under a heading, up to the next heading. */
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

/** Member names by the path of their object. */
const membersOf = (schema: Schema, path = '', found = new Map<string, Set<string>>()) => {
  for (const each of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) membersOf(each, path, found);
  if (schema.items) membersOf(schema.items, `${path}[]`, found);
  if (schema.additionalProperties) membersOf(schema.additionalProperties, `${path}.*`, found);
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    found.set(path, (found.get(path) ?? new Set()).add(name));
    // All limits have the same members.
    const inside = path === 'limits' ? 'limits.*' : path === '' ? name : `${path}.${name}`;
    membersOf(member, inside, found);
  }
  return found;
};

const sorted = (names: Iterable<string>) => [...new Set(names)].sort();
const members = membersOf(workspaceJsonSchema() as Schema);

test.each([...members])('the reference has every member of "%s" and no other', (path, known) => {
  const section = sectionOf(path === '' ? '## Members' : `### \`${path}\``);
  const rows = section.split('\n').filter((line) => /^\| (?:\*\*)?`/.test(line));
  expect(sorted(rows.map((row) => namesIn(row)[0]!))).toEqual(sorted(known));
});

test('the reference has no heading for what is not in the schema', () => {
  const headings = [...reference.matchAll(/^### `(.+)`$/gm)].map(([, path]) => path!);
  expect(sorted(headings)).toEqual(sorted([...members.keys()].filter((path) => path !== '')));
});

test('the reference names everything that an audience may ask for, and no more', () => {
  const names = namesIn(sectionOf('## Audience'));
  expect(sorted(names)).toEqual(sorted([...FIELD_NAMES, ...ACTIVITY_MEMBERS, ...OPERATORS]));
});

test('the reference names everything that a text may print beside standard attributes', () => {
  const { user } = personaliseContext('u-1', null, undefined, new Map());
  const [row = ''] = sectionOf('## Liquid').match(/^\| `\$\{…\}`.*$/m) ?? [];
  const [, , said = ''] = row.split('|');
  expect(sorted([...said.matchAll(/`([^`]+)`/g)].map(([, name]) => name!))).toEqual(
    sorted(Object.keys(user)),
  );
});

/** Code blocks marked with `<!-- example: … -->`. */
const examplesOf = (use: string): string[] =>
  ['docs/guides/campaigns.md', 'docs/reference/workspace-file.md']
    .flatMap(examplesIn)
    .filter((example) => example.use === use)
    .map(({ code }) => code);
const problemsOf = (campaign: Record<string, unknown>) =>
  parseWorkspace(aWorkspace({ campaigns: [campaign] })).warnings;

test.each(examplesOf('campaign'))('the campaign of an example can be served as it is: %s', (code) => {
  expect(problemsOf(JSON.parse(code))).toEqual([]);
});

test.each(examplesOf('audience'))('the audience of an example is one: %s', (code) => {
  expect(problemsOf(aCampaign({ audience: JSON.parse(code) }))).toEqual([]);
});

test.each(examplesOf('texts').flatMap((code) => code.split('\n')))(
  'the text of an example is a template: %s',
  (value) => {
    const properties = { text: { type: 'string', value } };
    expect(problemsOf(aCampaign({ variants: [aVariant({ properties })] }))).toEqual([]);
  },
);

test('has examples of each kind', () => {
  for (const use of ['campaign', 'audience', 'texts']) expect(examplesOf(use).length).toBeGreaterThan(0);
});
