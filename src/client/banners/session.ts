import type { BannerOptions } from '../options.ts';
import type { Clock } from '../platform/clock.ts';
import type { BannerCache } from './banner-cache.ts';
import { refill } from './refresh-budget.ts';
import type { Session, UserRecord } from './user-record.ts';

/** While a page is visible the session is kept alive this often; so exact is the time of its end. */
const HEARTBEAT_MS = 60_000;
/** More impressions than that in one session push out the oldest. */
const MAX_IMPRESSIONS = 500;
const TAB_KEY = 'placard-tab';

interface SessionOptions {
  cache: BannerCache;
  rule: BannerOptions;
  now: () => number;
  after: Clock['after'];
  random: () => number;
  isVisible: () => boolean;
  /** A session began: the first one, or one after a long absence. */
  onStart: () => void;
}

/** A name for this tab that outlives a reload. */
const tabName = (fresh: string): string => {
  try {
    const known = sessionStorage.getItem(TAB_KEY);
    if (!known) sessionStorage.setItem(TAB_KEY, fresh);
    return known ?? fresh;
  } catch {
    // Blocked storage: the tab counts as a new one after a reload.
    return fresh;
  }
};

/**
 * The session all tabs of a user share: which impressions were counted, and how many refreshes are left. It ends when
 * no page was visible for `sessionTimeoutMs`.
 */
export const createSession = ({ cache, rule, now, after, random, isVisible, onStart }: SessionOptions) => {
  let cancel: (() => void) | undefined;
  let known: string | undefined;

  const fresh = (id: string): Session => ({
    id,
    visibleAtMs: now(),
    impressions: [],
    tokens: rule.refreshCapacity,
    tokensAtMs: now(),
  });

  /** Runs `use` on the session of the record, on a new one where that has ended. */
  const inSession = <T>(record: UserRecord, freshId: string, use: (session: Session) => T): T => {
    const { session } = record;
    const isOver = !session || now() - session.visibleAtMs > rule.sessionTimeoutMs;
    const current = isOver ? fresh(freshId) : session;
    if (isVisible()) current.visibleAtMs = now();
    record.session = current;
    return use(current);
  };

  const change = async <T>(use: (session: Session) => T): Promise<T | undefined> => {
    const freshId = `${now().toString(36)}-${random().toString(36).slice(2)}`;
    const verdict = await cache.change((record) => inSession(record, freshId, use));
    const id = cache.record().session?.id;
    if (id !== known && id !== undefined) {
      if (known !== undefined) cache.testSends.clear();
      known = id;
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
      known = undefined;
      beat();
      return touch();
    },
    /** The page became visible. */
    touch,
    /** True for the one call, over all tabs, that may count this impression in this session. */
    async claim(placementId: string, bannerId: string): Promise<boolean> {
      const scope = rule.impressionScope === 'tab' ? tabName(`${now()}-${random()}`) : '';
      const claim = JSON.stringify([placementId, bannerId, scope]);
      const isMine = await change((session) => {
        if (session.impressions.includes(claim)) return false;
        session.impressions = [...session.impressions, claim].slice(-MAX_IMPRESSIONS);
        return true;
      });
      return isMine === true;
    },
    /** Takes one refresh from the budget; false when it is empty. */
    async spend(): Promise<boolean> {
      const isGranted = await change((session) => {
        Object.assign(session, refill(session, rule, now()));
        if (session.tokens < 1) return false;
        session.tokens -= 1;
        return true;
      });
      return isGranted === true;
    },
    /** The service asked for fewer requests: refreshes are earned anew. */
    drain: () => change((session) => Object.assign(session, { tokens: 0, tokensAtMs: now() })),
    stop: (): void => cancel?.(),
  };
};
