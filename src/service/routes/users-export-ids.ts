import { MAX_BODY_BYTES, MAX_PROFILE_VALUES } from '../../protocol/index.ts';
import type { Route } from '../route.ts';
import { exportByIds } from '../users/export-ids.ts';

export const usersExportIds: Route = {
  method: 'POST',
  path: '/users/export/ids',
  permission: 'users.export.ids',
  errors: 'general',
  rate: 'general',
  limit: 'users_export_ids',
  maxBodyBytes: MAX_BODY_BYTES,
  maxValues: MAX_PROFILE_VALUES,
  tooLarge: 413,
  async answer({ workspace, store, body, now }) {
    return { status: 201, body: await exportByIds({ workspace, store, body, nowMs: now }) };
  },
};
