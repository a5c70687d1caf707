import { MAX_BODY_BYTES, MAX_PROFILE_VALUES } from '../../protocol/index.ts';
import type { Route } from '../route.ts';
import { deleteUsers } from '../users/delete.ts';

export const usersDelete: Route = {
  method: 'POST',
  path: '/users/delete',
  permission: 'users.delete',
  errors: 'general',
  rate: 'general',
  limit: 'users_other',
  maxBodyBytes: MAX_BODY_BYTES,
  maxValues: MAX_PROFILE_VALUES,
  tooLarge: 413,
  async answer({ workspace: { workspaceId }, store, body, now }) {
    const deleted = await deleteUsers({ workspaceId, store, body, nowMs: now });
    return { status: 201, body: { deleted, message: 'success' } };
  },
};
