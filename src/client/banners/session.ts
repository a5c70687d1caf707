import type { BannerOptions } from '../options/option-schema.ts';
import type { Clock } from '../platform/clock.ts';
import type { BannerCache } from './banner-cache.ts';
import type { Session, UserRecord } from './user-record.ts';

/** Interval at which a visible page extends the session, and therefore the accuracy of the session's end. */
const HEARTBEAT_MS = 60_000;

interface SessionOptions {
  cache: BannerCache;
  /** Storage key of the tab's name. */
  tabKey: string;
  rule: BannerOptions;
  mayWrite: () => boolean;
  now: () => number;
  after: Clock['after'];
  random: () => number;
  isVisible: () => boolean;
  /** Called when this page joins or begins a session, including after a long absence. */
  onStart: () => void;
}

/** Returns the name of this tab, which survives a reload. */
const tabName = (tabKey: string, fresh: string): string => {
  try {
    const known = sessionStorage.getItem(tabKey);
    if (!known) sessionStorage.setItem(tabKey, fresh);
    return known ?? fresh;
  } catch {
    // Storage is blocked, so the tab counts as a new one after a reload.
    return fresh;
  }
};

/**
 * Creates the session that all tabs of a user share. Within a session, an impression counts once and refreshes are limited. A
 * session ends when no page was visible for `sessionTimeoutMs`.
 */
export const createSession = (options: SessionOptions) => {
  const { cache, tabKey, rule, mayWrite, now, after, random, isVisible, onStart } = options;
  const ownTab = `${now()}-${random()}`;
  let cancel: (() => void) | undefined;
  let joined: string | undefined;

  const fresh = (id: string): Session => ({
    id,
    visibleAtMs: now(),
    refreshesLeft: rule.refreshCapacity,
    refreshesLeftAtMs: now(),
  });

  /** Runs `use` on the session of the record, or on a new session if the record's has ended. */
  const inSession = <T>(
    record: UserRecord,
    freshId: string,
    use: (session: Session, record: UserRecord) => T,
  ): T => {
    const { session } = record;
    // Also true for a damaged session without a numeric time.
    const isOver = !session?.id || !(now() - session.visibleAtMs <= rule.sessionTimeoutMs);
    const current = isOver ? fresh(freshId) : session;
    if (isVisible()) current.visibleAtMs = now();
    record.session = current;
    return use(current, record);
  };

  const change = async <T>(use: (session: Session, record: UserRecord) => T): Promise<T | undefined> => {
    const freshId = `${now().toString(36)}-${random().toString(36).slice(2)}`;
    const outcome = await cache.change((record) => inSession(record, freshId, use));
    const id = cache.record().session?.id;
    if (id !== joined && id !== undefined) {
      // Test sends end with their session.
      if (joined !== undefined) cache.testSends.clear();
      joined = id;
      onStart();
    }
    return outcome;
  };
  const touch = () => change(() => true);

  const scheduleHeartbeat = (): void => {
    cancel?.();
    cancel = after(HEARTBEAT_MS, () => {
      if (isVisible()) void touch();
      scheduleHeartbeat();
    });
  };

  return {
    /** Joins the session of the other tabs, or begins one. */
    start(): Promise<unknown> {
      scheduleHeartbeat();
      return touch();
    },
    hasBegun: (): boolean => joined !== undefined,
    /** Leaves the session of the former user. */
    leave(): void {
      joined = undefined;
    },
    /** Called when the page becomes visible. */
    touch,
    /** Runs `use` on the current session, or on a new one if it has ended, and stores what `use` changes. */
    change,
    /**
     * Extends the session, or begins a new one. Returns the deduplication name of an impression, which counts once in this session
     * or in each of its tabs; `undefined` if there is no user.
     */
    async dedupName(placementId: string, bannerId: string): Promise<string | undefined> {
      const tab = () => (mayWrite() ? tabName(tabKey, ownTab) : ownTab);
      const scope = rule.impressionScope === 'tab' ? tab() : '';
      const id = await change((session) => session.id);
      return id && JSON.stringify([id, placementId, bannerId, scope]);
    },
    stop: (): void => cancel?.(),
  };
};

export type SyncSession = ReturnType<typeof createSession>;
