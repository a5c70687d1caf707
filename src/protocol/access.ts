// Permissions and rate limits. Each route names one of both, and so does the workspace file, which cannot import the routes.

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

export interface RateLimitWindow {
  requests: number;
  windowSeconds: number;
}

export interface LimitDefinition {
  /** Name of the counted unit, for the workspace file reference. */
  counts: string;
  /**
   * Default per workspace, from the published base rates. Unlimited if `null`, for example because page views differ a
   * thousandfold between sites.
   */
  workspace: RateLimitWindow | null;
  /** Default per user, so that a faulty page affects only one user. */
  user?: RateLimitWindow;
  /** Whether the file also configures the counting of objects. */
  hasObjects?: true;
}

const rate = (requests: number, windowSeconds: number): RateLimitWindow => ({ requests, windowSeconds });

/** Rate limits by name. Each route has one of these names. */
export const RATE_LIMITS = {
  users_track: { counts: '`/users/track`', workspace: rate(3_000, 3), hasObjects: true },
  users_track_bulk: { counts: '`/users/track/bulk`', workspace: rate(50, 1) },
  users_other: {
    counts:
      '`/users/identify`, `/users/merge`, `/users/alias/new`, `/users/delete` and `/placard/explain` together',
    workspace: rate(20_000, 60),
  },
  users_export_ids: { counts: '`/users/export/ids`', workspace: rate(250, 60) },
  banners_sync: { counts: '`banners/sync`', workspace: null, user: rate(60, 60) },
  banners_track: { counts: '`banners/track`', workspace: null, user: rate(60, 60) },
  visitors: {
    counts: '`banners/track` of all anonymous visitors together',
    workspace: rate(6_000, 60),
  },
  new_users: {
    counts: 'Users created by `banners/track`, over all apps',
    workspace: rate(6_000, 60),
  },
  reports: {
    counts: 'Reports together, except the two of `event_lists`',
    workspace: rate(250_000, 3_600),
  },
  event_lists: {
    counts: '`/events/list` and `/purchases/product_list` together',
    workspace: rate(1_000, 3_600),
  },
  cdi_integrations: { counts: '`/cdi/integrations`', workspace: rate(50, 60) },
} satisfies Record<string, LimitDefinition>;

export type LimitName = keyof typeof RATE_LIMITS;
