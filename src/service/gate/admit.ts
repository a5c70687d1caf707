import { hash } from 'node:crypto';
import { FATAL, isRecord, USER_TOKEN_HEADER, USER_TOKEN_MEMBER } from '../../protocol/index.ts';
import type { Reply } from '../http/exchange.ts';
import { HttpError } from '../http/exchange.ts';
import type { Route } from '../route.ts';
import { unproven } from '../user-tokens/user-tokens.ts';
import type { KeyHolder, Registry, Workspace } from '../workspace/workspace.ts';

/** The word as the contract writes it, one space, no quotes: any other form is no key. */
const BEARER = /^Bearer ([^\s"']\S*)$/;
const MAX_KEY_CHARACTERS = 1_024;

const unauthorized = (why: string) =>
  new HttpError(401, FATAL.invalidKey, { headers: { 'WWW-Authenticate': 'Bearer' }, why });

/** Who holds the key that the request carries. Throws a 401 where it carries none that a workspace has. */
export const holderOf = (authorization: string | undefined, registry: Registry): KeyHolder => {
  if (authorization === undefined) throw unauthorized('no Authorization header');
  const presented = authorization.length <= MAX_KEY_CHARACTERS ? BEARER.exec(authorization)?.[1] : undefined;
  if (presented === undefined)
    throw unauthorized('the Authorization header is not "Bearer", a space and one key');
  // Text first: a digest made as a buffer takes twice as long.
  const holder = registry.holderOf(Buffer.from(hash('sha256', presented, 'hex'), 'hex'));
  if (!holder) throw unauthorized('the key is of no workspace');
  return holder;
};

/** Throws a 403 where the key lacks the permission of the route. */
export const permit = ({ key }: KeyHolder, route: Route): void => {
  if (key.permissions.has(route.permission)) return;
  const why = `the key lacks the permission ${route.permission}`;
  // `banners/sync` has no 403: a key without the permission is answered like no key.
  if (route.errors === 'sync') throw unauthorized(why);
  throw new HttpError(403, FATAL.accessDenied, { why });
};

/**
 * Throws a 401 where the app wants proof of the user and the body has none that holds. The route checks the rest of the
 * body.
 */
export const proveUser = async (workspace: Workspace, body: unknown, nowMs: number): Promise<void> => {
  if (!isRecord(body)) return;
  const { app_id: appId, external_user_id: userId, [USER_TOKEN_MEMBER]: token } = body;
  if (typeof appId !== 'string' || typeof userId !== 'string') return;
  const fault = await workspace.userTokens.get(appId)?.judge(token, userId, nowMs);
  if (fault) throw unproven(appId, fault);
};

/** How long a browser may remember a preflight, in seconds; Chromium's own cap. */
const PREFLIGHT_SECONDS = 7_200;

/** What a page may read beside the body. `Date` lets a client with a wrong clock judge an expiry. */
const EXPOSED = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-RateLimit-Retry-After',
  'Retry-After',
  'Date',
  USER_TOKEN_HEADER,
].join(', ');

const ANY_ORIGIN = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED };

/** Headers of every answer of an endpoint that pages of other origins may call; a client key is no cookie. */
export const crossOriginHeaders = (route: Route): Record<string, string> =>
  route.crossOrigin ? ANY_ORIGIN : {};

export const preflight = (route: Route): Reply => ({
  status: 204,
  headers: {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': route.method,
    'Access-Control-Allow-Headers': 'Authorization, Content-Type',
    'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
  },
  body: '',
});
