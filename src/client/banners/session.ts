import type { BannerOptions } from '../options/option-schema.ts';
import type { Clock } from '../platform/clock.ts';
import type { BannerCache } from './banner-cache.ts';
import type { Session, UserRecord } from './user-record.ts';

interface Budget {
  refreshesLeft: number;
  refreshesLeftAtMs: number;
}

interface BudgetRule {
  refreshCapacity: number;
  refreshIntervalMs: number;
}

/** Refills the token bucket: one token for each interval that has passed, up to the capacity. */
export const refill = (
  budget: Budget,
  { refreshCapacity, refreshIntervalMs }: BudgetRule,
  nowMs: number,
): Budget => {
  // If the clock was set back, counting starts from now.
  const granted = Math.max(0, Math.floor((nowMs - budget.refreshesLeftAtMs) / refreshIntervalMs));
  const refreshesLeft = Math.min(refreshCapacity, budget.refreshesLeft + granted);
  const isFull = refreshesLeft === refreshCapacity || nowMs < budget.refreshesLeftAtMs;
  return {
    refreshesLeft,
    refreshesLeftAtMs: isFull ? nowMs : budget.refreshesLeftAtMs + granted * refreshIntervalMs,
  };
};

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
    /** Returns the current session with its remaining refreshes; `null` before the first session. */
    inspect(): { id: string; endsAt: number; refreshesLeft: number } | null {
      const { session } = cache.record();
      if (!session?.id) return null;
      const endsAt = session.visibleAtMs + rule.sessionTimeoutMs;
      return { id: session.id, endsAt, refreshesLeft: refill(session, rule, now()).refreshesLeft };
    },
    /** Takes one refresh from the budget if the record needs one. Resolves with `false` if the budget is empty. */
    async spend(isNeeded: (record: UserRecord) => boolean = () => true): Promise<boolean> {
      const isGranted = await change((session, record) => {
        Object.assign(session, refill(session, rule, now()));
        if (session.refreshesLeft < 1 || !isNeeded(record)) return false;
        session.refreshesLeft -= 1;
        return true;
      });
      return isGranted === true;
    },
    /** Empties the budget after a rate-limit response. The budget refills from now on. */
    spendAll: () =>
      change((session) => Object.assign(session, { refreshesLeft: 0, refreshesLeftAtMs: now() })),
    stop: (): void => cancel?.(),
  };
};
