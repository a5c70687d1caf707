import { MAX_BODY_BYTES, MAX_PROFILE_VALUES } from '../../protocol/index.ts';
import type { Route } from '../route.ts';
import { addAliases } from '../users/new-aliases.ts';

export const usersAliasNew: Route = {
  method: 'POST',
  path: '/users/alias/new',
  permission: 'users.alias.new',
  errors: 'general',
  rate: 'general',
  limit: 'users_other',
  maxBodyBytes: MAX_BODY_BYTES,
  maxValues: MAX_PROFILE_VALUES,
  tooLarge: 413,
  async answer({ workspace, store, body, now }) {
    const count = await addAliases({ workspace, store, body, nowMs: now });
    return { status: 201, body: { aliases_processed: count, message: 'success' } };
  },
};
