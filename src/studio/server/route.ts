import * as z from 'zod';
import { isStorableText } from '../../protocol/index.ts';
import {
  type Answer,
  type Endpoint,
  type Exchange,
  HttpError,
  type Operator,
  type Params,
  type RequestBody,
  type Role,
  type Service,
  type Store,
  type StudioStore,
  type Workspace,
} from '../../service/index.ts';

/** What a route gets once the operator is known and may do what it does. */
export interface StudioContext<Body = unknown> {
  operator: Operator;
  sessionId: string;
  workspace: Workspace;
  studio: StudioStore;
  store: Store;
  /** What the path has for the parts in braces. */
  params: Params;
  query: URLSearchParams;
  /** As the route's schema has it; `undefined` where the route takes none. */
  body: Body;
  /** The revision that `If-Match` names; `null` where it names none. */
  ifMatch: string | null;
  nowMs: number;
  missingSelectors: Service['missingSelectors'];
  /** Where browsers reach the service, without a slash at the end; `null` where nobody has said it. */
  serviceUrl: string | null;
  audit(action: string, subject: string, details?: string): Promise<void>;
  /** Lets this process see a release at once; the others follow. */
  refresh(): Promise<void>;
  /** The `Set-Cookie` that takes the session's cookie away. */
  endedCookie: string;
}

/** One row of the Studio's API. */
export interface StudioRoute<Body = unknown> extends Endpoint<Body> {
  /** The least role that may call it. */
  role: Role;
  answer(context: StudioContext<Body>): Answer | Promise<Answer>;
}

/** A request of somebody who has no session yet. */
interface SignInContext<Body = unknown> {
  exchange: Exchange;
  body: Body;
  /** Where the Studio is reached, without a slash at the end. */
  origin: string;
}

/** One that opens a session, or leads to it. */
export interface SignInRoute<Body = unknown> extends Endpoint<Body> {
  role: null;
  answer(context: SignInContext<Body>): Answer | Promise<Answer>;
}

/** A route whose body has the type of its schema. */
export const defineRoute = <Body>(route: StudioRoute<Body>): StudioRoute<Body> => route;
export const defineSignIn = <Body>(route: SignInRoute<Body>): SignInRoute<Body> => route;

/**
 * Ten times an ordinary campaign. A list of all IDs that fit has six thousand values: each may have a fault, and each fault a
 * sentence in the answer.
 */
const BOUNDS: RequestBody<unknown>['bounds'] = {
  maxBytes: 64 * 1024,
  maxValues: 8_000,
  largeBytes: 16 * 1024,
  tooLarge: { status: 413, message: 'The request is too large: 64 KB are the most' },
  unsupported: { status: 415, message: 'Expected JSON' },
};

/** Where a value has a text, or a name of a member, that PostgreSQL would refuse; `null` where it has none. */
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

/** Refuses what comes from outside, and names the text that no database stores. */
export const rejectUnstorable = (sent: unknown): void => {
  const path = unstorableIn(sent);
  if (path)
    throw new HttpError(
      400,
      `Expected text without U+0000 and without half of a character: ${path.join('.')}`,
    );
};

/** A body as its schema has it, or a refusal that names what is wrong with it. */
export const bodyOf = <Schema extends z.ZodType>(
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
