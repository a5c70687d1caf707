import type { SelectorPlacement } from '../../protocol/index.ts';
import type { Banner } from '../banner.ts';
import type { Settings } from '../options/options.ts';

/** Other versions use other keys, so that no version misreads another's records. */
const RECORD_VERSION = 1;

/** Sync result of one placement, with its request time in Unix milliseconds of the device. */
export interface CachedResult {
  banner: Banner | null;
  fetchedAtMs: number;
}

/** Banner that the user dismissed. */
export interface Dismissal {
  placementId: string;
  bannerId: string;
  /** Time when the service confirmed the event, in Unix milliseconds of the device; `null` before that. */
  acceptedAtMs: number | null;
}

/**
 * Session of one user in one browser profile, shared by all tabs. It begins with the first page, and ends when no page was
 * visible for `sessionTimeoutMs`, or when the user changes.
 */
export interface Session {
  id: string;
  /** Last time when a page was visible, in Unix milliseconds. */
  visibleAtMs: number;
  /** Refreshes left at `refreshesLeftAtMs`. */
  refreshesLeft: number;
  refreshesLeftAtMs: number;
}

/** Stored data of one user of one app. One record, so that a paint needs one read. */
export interface UserRecord {
  version: number;
  /** By placement. A `Map`, because a placement may be called `__proto__`. */
  banners: Map<string, CachedResult>;
  dismissed: Dismissal[];
  /** End times of snoozes by banner ID, in Unix milliseconds of the service. Absent in older records. */
  snoozed?: Map<string, number>;
  /** Placements that this client inserts by itself, and those without a matching element. Absent before the first request. */
  inserted?: { fetchedAtMs: number; placements: readonly SelectorPlacement[]; missing: string[] };
  session: Session | null;
  /** Server time minus device time, in milliseconds. */
  clockSkewMs: number;
}

export const emptyRecord = (): UserRecord => ({
  version: RECORD_VERSION,
  banners: new Map(),
  dismissed: [],
  session: null,
  clockSkewMs: 0,
});

export const recordKey = (endpoint: string, appId: string, userId: string): (string | number)[] => [
  'user',
  RECORD_VERSION,
  endpoint,
  appId,
  userId,
];

const isObject = (value: unknown): value is object => Object(value) === value;

/**
 * Returns whether a record is valid. An invalid record is ignored, and replaced by the next write. The session is checked on use.
 */
export const isUserRecord = (value: unknown): value is UserRecord => {
  const { version, banners, dismissed, clockSkewMs }: Partial<UserRecord> = Object(value);
  return (
    version === RECORD_VERSION &&
    // A `Map`, recognized by its method, because IndexedDB clones with another realm's `Map` in a test environment with its own
    // DOM.
    !!banners?.get &&
    Array.isArray(dismissed) &&
    [...banners.values(), ...dismissed].every(isObject) &&
    typeof clockSkewMs === 'number'
  );
};

const MAX_DISMISSALS = 100;

type BannerKey = Pick<Banner, 'placementId' | 'id'>;

export const isDismissed = ({ dismissed }: Readonly<UserRecord>, { placementId, id }: BannerKey): boolean =>
  dismissed.some((dismissal) => dismissal.placementId === placementId && dismissal.bannerId === id);

/** Removes banners from the record and keeps them hidden. The oldest dismissal is dropped first. */
export const addDismissals = (
  record: UserRecord,
  dismissals: readonly Pick<Dismissal, 'placementId' | 'bannerId'>[],
): void => {
  for (const { placementId, bannerId } of dismissals) {
    if (isDismissed(record, { placementId, id: bannerId })) continue;
    const response = record.banners.get(placementId);
    if (response?.banner?.id === bannerId) response.banner = null;
    record.dismissed.push({ placementId, bannerId, acceptedAtMs: null });
  }
  record.dismissed = record.dismissed.slice(-MAX_DISMISSALS);
};

/**
 * Creates the function that applies `bootstrap`, the banners that the host's backend requested for this page, to the user's
 * record. The effect is that of a sync result, and only for the user of the request.
 */
export const createBootstrap = ({
  bootstrap,
  appId,
  platform,
}: Pick<Settings, 'bootstrap' | 'appId' | 'platform'>) => {
  const startedAtMs = platform.now();

  const fill = (record: UserRecord): void => {
    // Server time, converted to device time. A time in the future would block the browser's own sync results.
    const fetchedAtMs = Math.min(bootstrap!.fetchedAtMs - record.clockSkewMs, startedAtMs);
    for (const [placementId, banner] of Object.entries<Banner | null>(bootstrap!.banners ?? {})) {
      const cached = record.banners.get(placementId);
      if (cached && cached.fetchedAtMs > fetchedAtMs) continue;
      record.banners.set(placementId, {
        banner: banner && isDismissed(record, banner) ? null : banner,
        fetchedAtMs,
      });
    }
  };

  /** Applied once, because a user who comes back has later sync results. */
  const fills = [fill];
  return (userId: string | null) =>
    bootstrap?.version === 1 && bootstrap.appId === appId && bootstrap.userId === userId
      ? fills.splice(0)
      : [];
};
