import type * as z from 'zod';
import type { Role } from '../protocol/index.ts';
import type { SessionResponse } from '../studio/index.ts';
import type { StudioClient } from '../studio-client/index.ts';

export interface ToolContext {
  studio: StudioClient;
  operator: SessionResponse['operator'];
}

/** MCP tool. The prefix of its name determines its annotations. */
export interface Tool<Input = unknown> {
  name: string;
  title: string;
  /** Description for the model. */
  description: string;
  /** Minimum role whose sessions list the tool. */
  role: Role;
  /** Returns the input schema, which rejects unknown arguments. */
  createInput(operator: SessionResponse['operator']): z.ZodType<Input>;
  /** Returns the subject of the audit entry, for example a campaign ID. Not a user ID, because erasure keeps audit entries. */
  getSubject(input: Input): string;
  /** Returns the path of the Studio's page about the result, which `studio_url` of the result links to. */
  getPage(input: Input): string;
  run(input: Input, context: ToolContext): Promise<Record<string, unknown>>;
}

/** Returns the path of a campaign in the Studio, or of the list without an ID. */
export const campaignPage = (id = '', tab: '' | '/results' | '/history' = ''): string =>
  id === '' ? '/' : `/campaigns/${encodeURIComponent(id)}${tab}`;

/** Defines a tool whose input has the type of its schema. */
export const defineTool = <Input>(tool: Tool<Input>): Tool => tool;

const READ = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const WRITE = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false };

const ANNOTATIONS: Readonly<Record<string, typeof READ>> = {
  list: READ,
  get: READ,
  check: READ,
  explain: READ,
  create: { ...WRITE, destructiveHint: false },
  update: WRITE,
  publish: WRITE,
  stop: WRITE,
};

/** Returns the annotations of a tool by the verb at the start of its name. Throws if the verb is unknown. */
export const annotationsFor = (name: string): typeof READ => {
  const [verb = ''] = name.split('_');
  const annotations = Object.hasOwn(ANNOTATIONS, verb) ? ANNOTATIONS[verb] : undefined;
  if (!annotations) throw new Error(`${name} must start with one of ${Object.keys(ANNOTATIONS).join(', ')}`);
  return annotations;
};
