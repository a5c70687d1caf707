import * as z from 'zod';
import { described, type Schema } from './fields.ts';

export type Members = Record<string, unknown>;

export const text = { type: 'string' };

/** `{ type: ['string', 'null'], … }` in place of `{ anyOf: [{ type: 'string', … }, { type: 'null' }] }`: it reads better. */
const flattenNullable = (schema: Members): void => {
  const { anyOf } = schema as { anyOf?: Members[] };
  if (anyOf?.length !== 2 || anyOf[1]?.['type'] !== 'null' || typeof anyOf[0]?.['type'] !== 'string') return;
  delete schema['anyOf'];
  Object.assign(schema, anyOf[0], { type: [anyOf[0]['type'], 'null'] });
};

export const schemaOf = (schema: z.core.$ZodType, io: 'input' | 'output', operationId: string): Schema => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => flattenNullable(jsonSchema),
  });
  return described(rest as Schema, operationId);
};

/** A body. */
export const json = (schema: Members | Schema, example?: unknown) => ({
  'application/json': { schema, ...(example !== undefined && { example }) },
});
