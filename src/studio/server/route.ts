import * as z from 'zod';
import { isStorableText, type Role } from '../../protocol/index.ts';
import {
  type Endpoint,
  formatCsvCell,
  type HandlerResult,
  HttpError,
  type HttpRequest,
  type NewAuditEntry,
  type Operator,
  type Params,
  type RequestBody,
  type Service,
  type Store,
  type StudioStore,
  type Workspace,
} from '../../service/index.ts';

/** Handler context of an authenticated request. */
export interface StudioContext<Body = unknown> {
  operator: Operator;
  sessionId: string;
  workspace: Workspace;
  studio: StudioStore;
  store: Store;
  /** Path parameters. */
  params: Params;
  query: URLSearchParams;
  /** Parsed body; `undefined` if the route has no schema. */
  body: Body;
  /** Revision of the `If-Match` header; `null` if none. */
  ifMatch: string | null;
  nowMs: number;
  missingSelectors: Service['missingSelectors'];
  /** Public URL of the service without a trailing slash; `null` if not configured. */
  serviceUrl: string | null;
  /** Creates an entry of the audit log. */
  auditEntry(action: string, subject: string, details?: string): NewAuditEntry;
  audit(action: string, subject: string, details?: string): Promise<void>;
  /** Reloads the releases in this process. Other replicas poll. */
  refresh(): Promise<void>;
  /** `Set-Cookie` value that clears the session cookie. */
  endedCookie: string;
}

/** Context of functions that depend only on the state of a workspace. */
export type WorkspaceContext = Pick<StudioContext, 'workspace' | 'store' | 'studio' | 'nowMs'>;

/** Response with other content than JSON, or with a status or headers of its own. `Body` is the type of its JSON. */
export class CustomResponse<Body = never> {
  declare readonly body: Body;
  readonly result: HandlerResult;

  constructor(result: HandlerResult) {
    this.result = result;
  }
}

/** Formats a time in milliseconds as ISO 8601. */
export const iso = (ms: number): string => new Date(ms).toISOString();

type CsvRow = readonly (string | number)[];

export const created = <Body>(body: Body): CustomResponse<Body> => new CustomResponse({ status: 201, body });
export const accepted = <Body>(body: Body): CustomResponse<Body> => new CustomResponse({ status: 202, body });

/** Formats rows as CSV (RFC 4180). */
export const formatCsv = (rows: readonly CsvRow[]): string =>
  rows.map((row) => `${row.map(formatCsvCell).join(',')}\r\n`).join('');

/** Creates a response that browsers save as a CSV file. */
export const csvFile = (name: string, rows: readonly CsvRow[]): CustomResponse =>
  new CustomResponse({
    status: 200,
    text: formatCsv(rows),
    headers: {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': `attachment; filename="${name}"`,
    },
  });

/** Route of the Studio's API. */
export interface StudioRoute<Body = unknown, Result = unknown> extends Endpoint<Body> {
  /** Minimum role. */
  role: Role;
  handle(context: StudioContext<Body>): Promise<HandlerResult>;
  /** Type of the handler's result. Never set. */
  response?: Result;
}

type JsonOf<Result> = Result extends CustomResponse<infer Body> ? Body : Result;

/** Type of the JSON that a route responds with. */
export type ResponseOf<Route extends StudioRoute> = JsonOf<Awaited<Exclude<Route['response'], undefined>>>;

/** Handler context of a request without a session. */
interface SignInContext<Body = unknown> {
  request: HttpRequest;
  body: Body;
  /** The Studio's origin, without a trailing slash. */
  origin: string;
}

/** Route that opens a session or starts a sign-in. */
export interface SignInRoute<Body = unknown> extends Endpoint<Body> {
  role: null;
  handle(context: SignInContext<Body>): HandlerResult | Promise<HandlerResult>;
}

/** Infers the type of the body from the schema. */
export const defineSignIn = <Body>(route: SignInRoute<Body>): SignInRoute<Body> => route;

/**
 * Ten times the size of an ordinary campaign. Limits the time of validation, because each value can have an error message and
 * the longest list of IDs that fits has 6,000 values.
 */
const BOUNDS: RequestBody<unknown>['bounds'] = {
  maxBytes: 64 * 1024,
  maxValues: 8_000,
  largeBytes: 16 * 1024,
  tooLarge: { status: 413, message: 'Request too large: the limit is 64 KB' },
  unsupported: { status: 415, message: 'Expected JSON' },
};

/** Returns the path of a string or key that PostgreSQL cannot store; `null` if none. */
const unstorableIn = (value: unknown): string[] | null => {
  if (typeof value === 'string') return isStorableText(value) ? null : [];
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    if (!isStorableText(name)) return [];
    const found = unstorableIn(member);
    if (found) return [name, ...found];
  }
  return null;
};

/** Rejects input with strings that the databases cannot store. The error names the path. */
export const rejectUnstorable = (sent: unknown): void => {
  const path = unstorableIn(sent);
  if (path)
    throw new HttpError(400, `Expected text without U+0000 or unpaired surrogates: ${path.join('.')}`);
};

/** Creates a body from a schema. Its reader throws a 400 that lists the problems. */
export const defineBody = <Schema extends z.ZodType>(
  schema: Schema,
  bounds: Partial<typeof BOUNDS> = {},
): RequestBody<z.output<Schema>> => ({
  schema,
  bounds: { ...BOUNDS, ...bounds },
  read(sent) {
    const parsed = schema.safeParse(sent);
    if (!parsed.success) throw new HttpError(400, z.prettifyError(parsed.error));
    rejectUnstorable(sent);
    return parsed.data;
  },
});

type Handler<Body, Result> = (context: StudioContext<Body>) => Result;
type Schema<Body> = z.ZodType<Body> | RequestBody<Body>;

interface DefineRoute {
  <Result>(path: string, role: Role, handle: Handler<undefined, Result>): StudioRoute<undefined, Result>;
  <Body, Result>(
    path: string,
    role: Role,
    body: Schema<Body>,
    handle: Handler<Body, Result>,
  ): StudioRoute<Body, Result>;
}

/**
 * Creates a function that defines a route by its path, minimum role, body if any, and handler. The handler returns the JSON of
 * the response, a `CustomResponse`, or nothing for a 204.
 */
const define =
  (method: Endpoint['method']): DefineRoute =>
  <Body, Result>(
    path: string,
    role: Role,
    ...rest: [Handler<Body, Result>] | [Schema<Body>, Handler<Body, Result>]
  ) => {
    const [body, handler] = rest.length === 1 ? [null, rest[0]] : rest;
    return {
      method,
      path,
      role,
      body: body && ('bounds' in body ? body : defineBody(body)),
      handle: async (context: StudioContext<Body>): Promise<HandlerResult> => {
        const result = await handler(context);
        if (result instanceof CustomResponse) return result.result;
        return result === undefined ? { status: 204, text: '' } : { status: 200, body: result };
      },
    };
  };

export const get = define('GET');
export const post = define('POST');
export const put = define('PUT');
export const del = define('DELETE');
