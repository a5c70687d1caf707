const many = { requests: 10_000_000, window_seconds: 1 };

/** A workspace that limits nothing. */
export const BENCH_WORKSPACE = {
  workspace_id: 'bench',
  apps: [{ app_id: 'bench-app', name: 'Bench', platform: 'web' }],
  api_keys: [
    {
      name: 'backend',
      type: 'server',
      key: 'bench-key',
      permissions: ['users.track', 'users.track.bulk', 'users.export.ids'],
    },
  ],
  limits: { users_track: many, users_track_bulk: many, users_export_ids: many },
};
export const BENCH_KEY = 'bench-key';
