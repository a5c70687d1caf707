import type { SelectorPlacement } from '../../protocol/index.ts';
import type { Banner } from '../banner.ts';
import type { Settings } from '../options/options.ts';

/** Other versions keep their records under other keys, so that neither misreads the other's. */
const RECORD_VERSION = 1;

/** A sync's answer for one placement, and when it was requested, in Unix milliseconds of this device. */
export interface Answer {
  banner: Banner | null;
  askedAtMs: number;
}

/** A banner the user has sent away. */
export interface Dismissal {
  placementId: string;
  bannerId: string;
  /** When the service confirmed the event, in Unix milliseconds of this device. */
  acceptedAtMs: number | null;
}

/**
 * A session belongs to one user in one browser profile, all tabs together: it begins with the first page and ends when
 * no page was visible for `sessionTimeoutMs`, or when the user changes.
 */
export interface Session {
  id: string;
  /** Last time a page was known to be visible, in Unix milliseconds. */
  visibleAtMs: number;
  /** Refresh tokens left at `tokensAtMs`. */
  tokens: number;
  tokensAtMs: number;
}

/** All that is remembered of one user of one app: one record, so that a paint needs exactly one read. */
export interface UserRecord {
  version: number;
  /** By placement: a map, because a placement may be called `__proto__`. */
  banners: Map<string, Answer>;
  dismissed: Dismissal[];
  /** Until when a snoozed banner stays away, by its ID, in Unix milliseconds of the service. Older records have none. */
  snoozed?: Map<string, number>;
  /** The placements that this client inserts by itself, and which of them found no place. Absent before they were requested. */
  inserted?: { askedAtMs: number; placements: readonly SelectorPlacement[]; missing: string[] };
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
 * A record that was damaged or written by someone else is left out; the next write replaces it. Its session is
 * checked where it is used.
 */
export const isUserRecord = (value: unknown): value is UserRecord => {
  const { version, banners, dismissed, clockSkewMs }: Partial<UserRecord> = Object(value);
  return (
    version === RECORD_VERSION &&
    // A map, recognised by its verb: in a test environment with a DOM of its own, IndexedDB clones with another realm's `Map`.
    !!banners?.get &&
    Array.isArray(dismissed) &&
    [...banners.values(), ...dismissed].every(isObject) &&
    typeof clockSkewMs === 'number'
  );
};

const MAX_DISMISSALS = 100;

type BannerName = Pick<Banner, 'placementId' | 'id'>;

export const isDismissed = ({ dismissed }: Readonly<UserRecord>, { placementId, id }: BannerName): boolean =>
  dismissed.some((known) => known.placementId === placementId && known.bannerId === id);

/** Takes banners out of the record and keeps them out; the oldest dismissal gives way. */
export const addDismissals = (
  record: UserRecord,
  dismissals: readonly Pick<Dismissal, 'placementId' | 'bannerId'>[],
): void => {
  for (const { placementId, bannerId } of dismissals) {
    if (isDismissed(record, { placementId, id: bannerId })) continue;
    const answer = record.banners.get(placementId);
    if (answer?.banner?.id === bannerId) answer.banner = null;
    record.dismissed.push({ placementId, bannerId, acceptedAtMs: null });
  }
  record.dismissed = record.dismissed.slice(-MAX_DISMISSALS);
};

/**
 * The banners that the host's backend has requested for this page (`bootstrap`), as changes of the user's record. They change what a sync's
 * answer would change, and only for the user whom they were requested for.
 */
export const createBootstrap = ({
  bootstrap,
  appId,
  platform,
}: Pick<Settings, 'bootstrap' | 'appId' | 'platform'>) => {
  const startedAtMs = platform.now();

  const fill = (record: UserRecord): void => {
    // By the server's clock; a time to come would keep the browser's own answers out.
    const askedAtMs = Math.min(bootstrap!.askedAtMs - record.clockSkewMs, startedAtMs);
    for (const [placementId, banner] of Object.entries<Banner | null>(bootstrap!.banners ?? {})) {
      const known = record.banners.get(placementId);
      if (known && known.askedAtMs > askedAtMs) continue;
      record.banners.set(placementId, {
        banner: banner && isDismissed(record, banner) ? null : banner,
        askedAtMs,
      });
    }
  };

  /** Once: a user who comes back has what a sync answered since. */
  const fills = [fill];
  return (userId: string | null) =>
    bootstrap?.version === 1 && bootstrap.appId === appId && bootstrap.userId === userId
      ? fills.splice(0)
      : [];
};
