import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { workspaceJsonSchema } from '../../src/service/workspace/file-schema.ts';
import { aCampaign, aVariant, aWorkspace } from '../helpers/a-workspace.ts';
import { packedPackage } from '../helpers/packed-package.ts';

const { folder } = await packedPackage();
const published = JSON.parse(readFileSync(join(folder, 'dist/workspace.schema.json'), 'utf8'));
const schema = z.fromJSONSchema(published);
const getProblems = (workspace: unknown) =>
  schema.safeParse(workspace).error?.issues.map(({ path }) => path.join('.')) ?? [];

test('the JSON Schema in the package equals that of the validator', () => {
  expect(published).toEqual(JSON.parse(JSON.stringify(workspaceJsonSchema())));
});

test('the JSON Schema accepts the demo workspace, which references it', () => {
  const file = join(folder, 'demo/workspace.json');
  const demo = JSON.parse(readFileSync(file, 'utf8'));
  expect(getProblems(demo)).toEqual([]);
  expect(JSON.parse(readFileSync(join(dirname(file), demo.$schema), 'utf8'))).toEqual(published);
});

test.each([
  ['an unknown member', aWorkspace({ colour: 'red' }), ''],
  ['an unknown status', aWorkspace({ campaigns: [aCampaign({ status: 'on' })] }), 'campaigns'],
  [
    'a property without a type',
    aWorkspace({ campaigns: [aCampaign({ variants: [aVariant({ properties: { h: { value: 1 } } })] })] }),
    'campaigns',
  ],
])('rejects %s', (_, workspace, path) => {
  expect(getProblems(workspace)).toContain(path);
});

interface Schema {
  description?: string;
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  additionalProperties?: Schema | false;
  properties?: Record<string, Schema>;
}

/** Paths of members without a description. */
const undescribed = (schema: Schema, path = ''): string[] => [
  ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((each) => undescribed(each, path)),
  ...(schema.items ? undescribed(schema.items, `${path}[]`) : []),
  ...(schema.additionalProperties ? undescribed(schema.additionalProperties, `${path}.*`) : []),
  ...Object.entries(schema.properties ?? {}).flatMap(([name, member]) => [
    ...(member.description ? [] : [`${path}.${name}`]),
    ...undescribed(member, `${path}.${name}`),
  ]),
];

test('the JSON Schema describes every member for editors', () => {
  expect(undescribed(workspaceJsonSchema())).toEqual([]);
});
