// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are Liquid's
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ACTIVITY_MEMBERS, FIELD_NAMES } from '../../src/service/campaigns/audience/fields.ts';
import { OPERATORS } from '../../src/service/campaigns/audience/operators.ts';
import { personaliseContext } from '../../src/service/campaigns/variables.ts';
import { workspaceJsonSchema } from '../../src/service/workspace/file-schema.ts';
import { parseWorkspace } from '../../src/service/workspace/parse-workspace.ts';
import { aCampaign, aVariant, aWorkspace } from '../helpers/a-workspace.ts';
import { examplesIn } from '../helpers/document-examples.ts';

const FILE = 'docs/reference/workspace-file.md';
const reference = readFileSync(FILE, 'utf8');

/** First-column names of all tables in a text. */
const namesIn = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name!));

/** Text under a heading, up to the next heading. */
const getSection = (heading: string): string => {
  const [, after = ''] = reference.split(`\n${heading}\n`);
  return after.split(/\n#{2,3} /)[0]!;
};

interface Schema {
  description?: string;
  required?: string[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  additionalProperties?: Schema | false;
  properties?: Record<string, Schema>;
}

interface Member {
  description: string;
  isRequired: boolean;
}

const getAlternatives = ({ anyOf = [], oneOf = [] }: Schema): Schema[] => [...anyOf, ...oneOf];
const getObjects = (schema: Schema): Schema[] =>
  schema.properties ? [schema] : getAlternatives(schema).flatMap(getObjects);

/** Members by the path of their object. A member is required if each object of a union requires it. */
const getMembers = (schema: Schema, path = '', found = new Map<string, Map<string, Member>>()) => {
  const objects = getObjects(schema);
  for (const [name, member] of objects.flatMap(({ properties = {} }) => Object.entries(properties))) {
    const { description = '' } = member;
    const isRequired = objects.every(({ required = [] }) => required.includes(name));
    found.set(path, (found.get(path) ?? new Map()).set(name, { description, isRequired }));
    // All limits have the same members.
    const inside = path === 'limits' ? 'limits.*' : path === '' ? name : `${path}.${name}`;
    getMembers(member, inside, found);
  }
  for (const each of [schema, ...getAlternatives(schema)]) {
    if (each.items) getMembers(each.items, `${path}[]`, found);
    if (each.additionalProperties) getMembers(each.additionalProperties, `${path}.*`, found);
  }
  return found;
};

const sorted = (names: Iterable<string>) => [...new Set(names)].sort();
const members = getMembers(workspaceJsonSchema() as Schema);

test('the reference lists the members of the schema (update with `vitest -u`)', async () => {
  const page = [...members].reduce((text, [path, known]) => {
    const heading = path === '' ? '## Members' : `### \`${path}\``;
    const rows = [...known].map(([name, { description, isRequired }]) => {
      const code = `\`${name}\``;
      return `| ${isRequired ? `**${code}**` : code} | ${description} |\n`;
    });
    const [before, after] = text.split(`\n${heading}\n`);
    if (after === undefined) throw new Error(`${FILE} has no heading for '${path}'`);
    const table = after.replace(/\| Member \|.*\n\|-.*\n(?:\|.*\n)*/, () =>
      ['| Member | Description |\n|---|---|\n', ...rows].join(''),
    );
    return `${before}\n${heading}\n${table}`;
  }, reference);
  await expect(page).toMatchFileSnapshot(join('../..', FILE));
});

test('the reference has headings for members of the schema only', () => {
  const headings = [...reference.matchAll(/^### `(.+)`$/gm)].map(([, path]) => path!);
  expect(sorted(headings)).toEqual(sorted([...members.keys()].filter((path) => path !== '')));
});

test('the reference lists exactly the audience fields', () => {
  const names = namesIn(getSection('## Audience'));
  expect(sorted(names)).toEqual(sorted([...FIELD_NAMES, ...ACTIVITY_MEMBERS, ...OPERATORS]));
});

test('the reference lists every template variable in addition to the standard attributes', () => {
  const { user } = personaliseContext('u-1', null, undefined, new Map());
  const [row = ''] = getSection('## Liquid').match(/^\| `\$\{…\}`.*$/m) ?? [];
  const [, , said = ''] = row.split('|');
  expect(sorted([...said.matchAll(/`([^`]+)`/g)].map(([, name]) => name!))).toEqual(
    sorted(Object.keys(user)),
  );
});

/** Code blocks marked with `<!-- example: … -->`. */
const getExamples = (use: string): string[] =>
  ['README.md', 'docs/guides/campaigns.md', FILE]
    .flatMap(examplesIn)
    .filter((example) => example.use === use)
    .map(({ code }) => code);
const getProblems = (campaign: Record<string, unknown>) =>
  parseWorkspace(aWorkspace({ campaigns: [campaign] })).warnings;

test.each(getExamples('campaign'))('the campaign of an example is valid: %s', (code) => {
  expect(getProblems(JSON.parse(code))).toEqual([]);
});

test.each(getExamples('audience'))('the audience of an example is valid: %s', (code) => {
  expect(getProblems(aCampaign({ audience: JSON.parse(code) }))).toEqual([]);
});

test.each(getExamples('texts').flatMap((code) => code.split('\n')))(
  'the text of an example is a valid template: %s',
  (value) => {
    const properties = { text: { type: 'string', value } };
    expect(getProblems(aCampaign({ variants: [aVariant({ properties })] }))).toEqual([]);
  },
);

test('contains examples of each type', () => {
  for (const use of ['campaign', 'audience', 'texts']) expect(getExamples(use).length).toBeGreaterThan(0);
});
