import { MAX_BODY_BYTES, MAX_PROFILE_VALUES } from '../../protocol/index.ts';
import type { Route } from '../route.ts';
import { mergeUsers } from '../users/merge.ts';

export const usersMerge: Route = {
  method: 'POST',
  path: '/users/merge',
  permission: 'users.merge',
  errors: 'general',
  rate: 'general',
  limit: 'users_other',
  maxBodyBytes: MAX_BODY_BYTES,
  maxValues: MAX_PROFILE_VALUES,
  tooLarge: 413,
  async answer({ workspace, store, body, now }) {
    await mergeUsers({ workspace, store, body, nowMs: now });
    return { status: 202, body: { message: 'success' } };
  },
};
