import { hash } from 'node:crypto';
import { FATAL } from '../../protocol/index.ts';
import { HttpError } from '../http-error.ts';
import type { Route } from '../route.ts';
import type { Registry } from '../workspace/registry.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** The word as the contract writes it, one space, no quotes: any other form is no key. */
const BEARER = /^Bearer ([^\s"']\S*)$/;
const MAX_KEY_CHARACTERS = 1_024;

const unauthorized = () =>
  new HttpError(401, FATAL.invalidKey, { headers: { 'WWW-Authenticate': 'Bearer' } });

/** The workspace whose key the request carries, or an `HttpError`: 401 without a key, 403 without the permission. */
export const admit = (authorization: string | undefined, route: Route, registry: Registry): Workspace => {
  const presented =
    authorization !== undefined && authorization.length <= MAX_KEY_CHARACTERS
      ? BEARER.exec(authorization)?.[1]
      : undefined;
  if (presented === undefined) throw unauthorized();
  // Text first: a digest made as a buffer takes twice as long.
  const holder = registry.holderOf(Buffer.from(hash('sha256', presented, 'hex'), 'hex'));
  if (!holder) throw unauthorized();
  if (!holder.key.permissions.has(route.permission)) {
    // `banners/sync` has no 403: a key without the permission is answered like no key.
    if (route.errors === 'sync') throw unauthorized();
    throw new HttpError(403, FATAL.accessDenied);
  }
  return holder.workspace;
};
