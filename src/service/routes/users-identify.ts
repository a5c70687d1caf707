import { MAX_BODY_BYTES, MAX_PROFILE_VALUES } from '../../protocol/index.ts';
import type { Route } from '../route.ts';
import { identifyUsers } from '../users/identify.ts';

export const usersIdentify: Route = {
  method: 'POST',
  path: '/users/identify',
  permission: 'users.identify',
  errors: 'general',
  rate: 'general',
  limit: 'users_other',
  maxBodyBytes: MAX_BODY_BYTES,
  maxValues: MAX_PROFILE_VALUES,
  tooLarge: 413,
  async answer({ workspace, store, body, now }) {
    return { status: 201, body: await identifyUsers({ workspace, store, body, nowMs: now }) };
  },
};
