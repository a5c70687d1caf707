/** Permissions of client keys: banners only. */
export const CLIENT_PERMISSIONS = ['banners.sync', 'banners.track'] as const;

/** Permissions of server keys. */
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
  'campaigns.translations.get',
  'campaigns.translations.update',
  'segments.list',
  'segments.details',
  'segments.data_series',
  'events.list',
  'events.data_series',
  'purchases.product_list',
  'purchases.quantity_series',
  'purchases.revenue_series',
  'sessions.data_series',
  'kpi.dau.data_series',
  'kpi.mau.data_series',
  'kpi.new_users.data_series',
  'kpi.uninstalls.data_series',
  'canvas.list',
  'feed.list',
  /** Placard extension. */
  'campaigns.explain',
] as const;

type ClientPermission = (typeof CLIENT_PERMISSIONS)[number];
type ServerPermission = (typeof SERVER_PERMISSIONS)[number];
export type Permission = ClientPermission | ServerPermission;
