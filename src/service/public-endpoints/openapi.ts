import { version } from '../../version/index.ts';
import { isClientPermission, type Route } from '../api/route.ts';
import { formatLimit } from '../workspace/limits.ts';
import { ALLOW, components, json, type Members, text, toJsonSchema, toResponses } from './responses.ts';

const KILOBYTE = 1024;
const MEGABYTE = 1024 * KILOBYTE;
const sizeText = (bytes: number) => (bytes < MEGABYTE ? `${bytes / KILOBYTE} KB` : `${bytes / MEGABYTE} MB`);
/** Describes the default limits of a request. */
const limitsText = ({ limit, body: request }: Route): string => {
  const size = request ? `A body has at most ${sizeText(request.bounds.maxBytes)}. ` : '';
  return `${size}${formatLimit(limit)}, unless the workspace file says otherwise in \`limits.${limit}\`.`;
};

/** Returns the parameter names of a path. */
const pathNames = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);

const toParameters = ({ path, query, operation }: Route): Members => {
  const { properties = {}, required = [] } = query ? toJsonSchema(query, 'input') : {};
  const parameters = [
    ...pathNames(path).map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: text,
      description: operation.parameters?.[name],
    })),
    ...Object.entries(properties).map(([name, { description, ...schema }]) => ({
      name,
      in: 'query',
      required: required.includes(name),
      schema,
      description,
    })),
  ];
  return parameters.length > 0 ? { parameters } : {};
};

const toOperation = (route: Route, { operation } = route) => ({
  operationId: operation.id,
  tags: [operation.tag],
  summary: operation.summary,
  description: `${operation.description}\n\nLimits: ${limitsText(route)}\n\nPermission: \`${route.permission}\`.`,
  security: [isClientPermission(route.permission) ? { clientKey: [] } : { serverKey: [] }],
  ...toParameters(route),
  ...(route.body && {
    requestBody: {
      required: true,
      content: json(toJsonSchema(route.body.schema, 'input'), operation.example),
    },
  }),
  responses: toResponses(route, operation),
});

const statusResponse = {
  type: 'object',
  properties: { status: { ...text, description: 'Status, such as `ok`, `ready` or `draining`.' } },
};
const statusPage = (id: string, summary: string, more: Members = {}) => ({
  get: {
    operationId: id,
    tags: ['Service'],
    summary,
    security: [],
    responses: {
      200: { description: 'Yes.', content: json(statusResponse) },
      ...more,
      405: {
        description: 'Only GET and HEAD.',
        headers: ALLOW,
        content: json({ $ref: '#/components/schemas/ErrorBody' }),
      },
    },
  },
});
const notReady = {
  503: { description: 'Not ready.', content: json(statusResponse) },
};

/** Returns the OpenAPI 3.1 description of the API, generated from the routes and their schemas. */
export const openApi = (routes: readonly Route[]) => ({
  openapi: '3.1.0',
  info: {
    title: 'Placard',
    version: version(),
    summary: 'Banner messaging: which banner a user sees, what users do, and who they are.',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: '/' }],
  tags: [
    { name: 'Banners', description: 'For apps, with a client key.' },
    { name: 'Users', description: 'For backends, with a server key.' },
    { name: 'Campaigns', description: 'For operators, with a server key.' },
    { name: 'Events', description: 'Counts of events and purchases. For operators, with a server key.' },
    { name: 'Integrations', description: 'For backends, with a server key.' },
    { name: 'Unmeasured', description: 'Empty lists, for connectors that read a fixed set of reports.' },
    { name: 'Service', description: 'For operators, without a key.' },
  ],
  paths: {
    ...Object.fromEntries(
      [...Map.groupBy(routes, ({ path }) => path)].map(([path, ofPath]) => [
        path,
        Object.fromEntries(ofPath.map((route) => [route.method.toLowerCase(), toOperation(route)])),
      ]),
    ),
    '/healthz': statusPage('isAlive', 'Check liveness'),
    '/readyz': statusPage('isReady', 'Check readiness', notReady),
  },
  components,
});
