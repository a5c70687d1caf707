import type { BannerOptions } from '../options/choices.ts';
import type { Clock } from '../platform/clock.ts';
import type { BannerCache } from './banner-cache.ts';
import type { Session, UserRecord } from './user-record.ts';

interface Budget {
  tokens: number;
  tokensAtMs: number;
}

interface BudgetRule {
  refreshCapacity: number;
  refreshIntervalMs: number;
}

/** What the bucket holds now: one more token for each interval that has passed, never above its capacity. */
export const refill = (
  budget: Budget,
  { refreshCapacity, refreshIntervalMs }: BudgetRule,
  nowMs: number,
): Budget => {
  // A clock that was set back grants nothing until it has caught up, so start counting from now.
  const granted = Math.max(0, Math.floor((nowMs - budget.tokensAtMs) / refreshIntervalMs));
  const tokens = Math.min(refreshCapacity, budget.tokens + granted);
  const isFull = tokens === refreshCapacity || nowMs < budget.tokensAtMs;
  return { tokens, tokensAtMs: isFull ? nowMs : budget.tokensAtMs + granted * refreshIntervalMs };
};

/** While a page is visible the session is kept alive this often. Its end is accurate to this interval. */
const HEARTBEAT_MS = 60_000;

interface SessionOptions {
  cache: BannerCache;
  /** Where the tab keeps its name. */
  tabKey: string;
  rule: BannerOptions;
  mayWrite: () => boolean;
  now: () => number;
  after: Clock['after'];
  random: () => number;
  isVisible: () => boolean;
  /** This page is in another session than before: it has joined that of the other tabs, or begun one, at first or after a long absence. */
  onStart: () => void;
}

/** A name for this tab that outlives a reload. */
const tabName = (tabKey: string, fresh: string): string => {
  try {
    const known = sessionStorage.getItem(tabKey);
    if (!known) sessionStorage.setItem(tabKey, fresh);
    return known ?? fresh;
  } catch {
    // Blocked storage: the tab counts as a new one after a reload.
    return fresh;
  }
};

/**
 * The session all tabs of a user share: within it an impression counts once, and refreshes are limited. It ends when no
 * page was visible for `sessionTimeoutMs`.
 */
export const createSession = (options: SessionOptions) => {
  const { cache, tabKey, rule, mayWrite, now, after, random, isVisible, onStart } = options;
  const ownTab = `${now()}-${random()}`;
  let cancel: (() => void) | undefined;
  /** The session that this page is in. */
  let joined: string | undefined;

  const fresh = (id: string): Session => ({
    id,
    visibleAtMs: now(),
    tokens: rule.refreshCapacity,
    tokensAtMs: now(),
  });

  /** Runs `use` on the session of the record, on a new one where that has ended. */
  const inSession = <T>(
    record: UserRecord,
    freshId: string,
    use: (session: Session, record: UserRecord) => T,
  ): T => {
    const { session } = record;
    // Also one that was damaged, whose time is no number.
    const isOver = !session?.id || !(now() - session.visibleAtMs <= rule.sessionTimeoutMs);
    const current = isOver ? fresh(freshId) : session;
    if (isVisible()) current.visibleAtMs = now();
    record.session = current;
    return use(current, record);
  };

  const change = async <T>(use: (session: Session, record: UserRecord) => T): Promise<T | undefined> => {
    const freshId = `${now().toString(36)}-${random().toString(36).slice(2)}`;
    const verdict = await cache.change((record) => inSession(record, freshId, use));
    const id = cache.record().session?.id;
    if (id !== joined && id !== undefined) {
      // A test send lasts as long as its session.
      if (joined !== undefined) cache.testSends.clear();
      joined = id;
      onStart();
    }
    return verdict;
  };
  const touch = () => change(() => true);

  const beat = (): void => {
    cancel?.();
    cancel = after(HEARTBEAT_MS, () => {
      if (isVisible()) void touch();
      beat();
    });
  };

  return {
    /** Joins the session of the other tabs, or begins one. */
    start(): Promise<unknown> {
      beat();
      return touch();
    },
    hasBegun: (): boolean => joined !== undefined,
    /** The user has changed: the session was of the former one. */
    leave(): void {
      joined = undefined;
    },
    /** The page became visible. */
    touch,
    /** The name of an impression that counts once in this session, or once in each of its tabs. `undefined` without a user. */
    async nameOf(placementId: string, bannerId: string): Promise<string | undefined> {
      const tab = () => (mayWrite() ? tabName(tabKey, ownTab) : ownTab);
      const scope = rule.impressionScope === 'tab' ? tab() : '';
      const id = await change((session) => session.id);
      return id && JSON.stringify([id, placementId, bannerId, scope]);
    },
    /** The session as it stands, and the refreshes left in it; `null` before the first. */
    inspect(): { id: string; endsAt: number; refreshesLeft: number } | null {
      const { session } = cache.record();
      if (!session?.id) return null;
      const endsAt = session.visibleAtMs + rule.sessionTimeoutMs;
      return { id: session.id, endsAt, refreshesLeft: refill(session, rule, now()).tokens };
    },
    /** Takes one refresh from the budget where the record needs one; false when it is empty. */
    async spend(isNeeded: (record: UserRecord) => boolean = () => true): Promise<boolean> {
      const isGranted = await change((session, record) => {
        Object.assign(session, refill(session, rule, now()));
        if (session.tokens < 1 || !isNeeded(record)) return false;
        session.tokens -= 1;
        return true;
      });
      return isGranted === true;
    },
    /** The service has answered that there are too many requests: the budget is empty, and fills from now on. */
    spendAll: () => change((session) => Object.assign(session, { tokens: 0, tokensAtMs: now() })),
    stop: (): void => cancel?.(),
  };
};
