import * as z from 'zod';
import { type ErrorFormat, USER_TOKEN_HEADER } from '../../protocol/index.ts';
import type { Operation, Route } from '../api/route.ts';

export type Members = Record<string, unknown>;

export const text = { type: 'string' };

/** Replaces `{ anyOf: [{ type: 'string', … }, { type: 'null' }] }` with the more readable `{ type: ['string', 'null'], … }`. */
const flattenNullable = (schema: z.core.JSONSchema.BaseSchema): void => {
  const [first, second, ...others] = schema.anyOf ?? [];
  if (second?.type !== 'null' || typeof first?.type !== 'string' || others.length > 0) return;
  delete schema.anyOf;
  Object.assign(schema, first, { type: [first.type, 'null'] });
};

/** JSON Schema members that the field tables use. */
export interface Schema {
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  enum?: unknown[];
  maxItems?: number;
}

export const toJsonSchema = (schema: z.core.$ZodType, io: 'input' | 'output'): Schema => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => flattenNullable(jsonSchema),
  });
  return rest as Schema;
};

/** Returns the OpenAPI content of a JSON body. */
export const json = (schema: Members | Schema, example?: unknown) => ({
  'application/json': { schema, ...(example !== undefined && { example }) },
});

/** Shared components of operations. */
export const components = {
  schemas: {
    ErrorBody: {
      type: 'object',
      description: 'A rejected request. `errors` repeats the text, or names invalid objects.',
      required: ['message', 'errors'],
      properties: {
        message: text,
        error: { ...text, description: 'The same text, if the body was not JSON.' },
        errors: {
          type: 'array',
          items: {
            type: 'object',
            required: ['type'],
            properties: { type: text, input_array: text, index: { type: 'integer' } },
          },
        },
      },
    },
    SyncErrorBody: { type: 'object', required: ['error'], properties: { error: text } },
    BannerTrackErrorBody: {
      type: 'object',
      required: ['message'],
      properties: {
        message: text,
        errors: {
          type: 'array',
          items: {
            type: 'object',
            required: ['type', 'index'],
            properties: { type: text, index: { type: 'integer' } },
          },
        },
      },
    },
  },
  securitySchemes: {
    clientKey: {
      type: 'http',
      scheme: 'bearer',
      description: 'Client key, for banner endpoints. Public: it identifies the app, not the user.',
    },
    serverKey: { type: 'http', scheme: 'bearer', description: 'Server key, for all other endpoints.' },
  },
};

const ERROR_SCHEMAS: Record<ErrorFormat, string> = {
  general: 'ErrorBody',
  sync: 'SyncErrorBody',
  track: 'BannerTrackErrorBody',
};

const RATE_HEADERS = {
  'X-RateLimit-Limit': { schema: { type: 'integer' }, description: 'Requests allowed in the window.' },
  'X-RateLimit-Remaining': { schema: { type: 'integer' }, description: 'Requests left in the window.' },
};
const rateHeaders = ({ rateHeaderFormat }: Route) => ({
  ...RATE_HEADERS,
  'X-RateLimit-Reset': {
    schema: { type: 'integer' },
    description:
      rateHeaderFormat === 'users-track'
        ? 'Seconds left until the window ends.'
        : 'Unix seconds of the end of the window.',
  },
});
const RETRY_AFTER = { schema: { type: 'integer' }, description: 'Seconds to wait.' };
/** Returns the headers of a 429. `/users/track` sends only the time to wait (contract 1.5). */
const limitedHeaders = (route: Route) =>
  route.rateHeaderFormat === 'users-track'
    ? { 'X-Ratelimit-Retry-After': RETRY_AFTER }
    : { ...rateHeaders(route), 'X-RateLimit-Retry-After': RETRY_AFTER };

export const ALLOW = { Allow: { schema: text, description: 'Allowed methods.' } };

/** Returns every response of an operation by status. */
export const toResponses = (route: Route, operation: Operation): Members => {
  const rejected = (description: string, headers?: Members | false) => ({
    description,
    ...(headers && { headers }),
    content: json({ $ref: `#/components/schemas/${ERROR_SCHEMAS[route.errorFormat]}` }),
  });
  /** Returns a response with rate-limit headers, sent once the request is counted. */
  const counted = (description: string, headers?: Members) =>
    rejected(description, { ...rateHeaders(route), ...headers });
  const { body: request } = route;
  const isGeneral = route.errorFormat === 'general';
  const link = {
    Link: { schema: text, description: 'Previous and next page; absent if all fits one page.' },
  };
  return {
    [route.response.status]: {
      description: 'Success: durable and visible to later requests.',
      headers: { ...rateHeaders(route), ...(route.isPaged && link) },
      content: json(toJsonSchema(route.response.schema, 'output')),
    },
    ...(operation.badRequest && { 400: counted(operation.badRequest) }),
    401: rejected(
      route.errorFormat === 'sync'
        ? 'The key is missing or wrong, or lacks the permission; or the user token is invalid.'
        : `The key is missing or wrong${route.crossOrigin ? ', or the user token is invalid' : ''}.`,
      route.crossOrigin && {
        [USER_TOKEN_HEADER]: {
          schema: text,
          description: 'Why the user token is invalid; absent if the key is at fault.',
        },
      },
    ),
    ...(route.errorFormat !== 'sync' && { 403: rejected('The key lacks the permission.') }),
    // A disabled feature is rejected before the request is counted.
    ...(operation.notFound && {
      404: route.crossOrigin ? rejected(operation.notFound) : counted(operation.notFound),
    }),
    405: rejected('Method not allowed.', ALLOW),
    ...(request?.bounds.tooLarge.status === 413 && { 413: counted('The body is larger than 4 MB.') }),
    ...(request && isGeneral && { 415: counted('Unsupported content type.') }),
    429: rejected('Too many requests.', limitedHeaders(route)),
    500: counted('Internal error; nothing was stored. Retry later.'),
    ...((request || route.writes) && {
      503: counted('Server overloaded; the request was not processed. Retry later.', {
        'Retry-After': RETRY_AFTER,
      }),
    }),
    ...(route.writes && {
      504: counted('The outcome of the write is unknown; a retry may count twice.'),
    }),
  };
};
