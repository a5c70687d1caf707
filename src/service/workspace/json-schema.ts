import * as z from 'zod';
import { workspaceFile } from './file-schema.ts';

/** The JSON Schema of a workspace file, made of the schema that checks it. Draft 7, which editors know best. */
export const workspaceJsonSchema = (): Record<string, unknown> => ({
  title: 'Placard workspace',
  ...z.toJSONSchema(workspaceFile, { io: 'input', target: 'draft-7', unrepresentable: 'any' }),
});
