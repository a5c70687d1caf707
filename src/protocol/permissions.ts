/** What a client-side key may be allowed to do: banners, and nothing else. */
export const CLIENT_PERMISSIONS = ['banners.sync', 'banners.track'] as const;

/** What a server-side key may be allowed to do. */
export const SERVER_PERMISSIONS = [
  'cdi.integration_list',
  'cdi.integration_sync',
  'cdi.integration_job_status',
  'users.track',
  'users.track.bulk',
  'users.identify',
  'users.merge',
  'users.alias.new',
  'users.export.ids',
  'users.delete',
  'campaigns.list',
  'campaigns.details',
  'campaigns.data_series',
  'segments.list',
  /** Ours: no other server has it. */
  'campaigns.explain',
] as const;

type ClientPermission = (typeof CLIENT_PERMISSIONS)[number];
type ServerPermission = (typeof SERVER_PERMISSIONS)[number];
export type Permission = ClientPermission | ServerPermission;
