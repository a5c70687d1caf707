import type { Clock } from '../platform/clock.ts';
import type { Moment, PageLifecycle } from '../platform/page-lifecycle.ts';
import { LEAP_MS } from './event-time.ts';
import type { Ledger } from './ledger.ts';

/** How often what is too old is looked for. */
const EXPIRE_MS = 60 * 60_000;
/** Signs that the network or the user is back. */
const SIGNS: Moment[] = ['visible', 'online', 'resumed', 'activated', 'restored'];

export interface WakeUpOptions {
  lifecycle: PageLifecycle;
  clock: Clock;
  ledger: Ledger;
  isAllowed: () => boolean;
  /** There is a reason to try what failed before: the store, the host's key. */
  retry: () => void;
  expire: () => Promise<void>;
  look: () => void;
  onFailed: (cause: unknown) => void;
}

/** Begins anew when the page starts, or somebody or something is back: a sign ends a running backoff, once. */
export const createWakeUp = (options: WakeUpOptions) => {
  const { lifecycle, clock, ledger, isAllowed, retry, expire, look, onFailed } = options;
  /** By the clock that never jumps, and how far the device's was ahead of it then. */
  let expiredAt = Number.NEGATIVE_INFINITY;
  let ahead = clock.now() - clock.monotonic();
  let signs = 0;

  const ease = () =>
    ledger.step([], (meta) => {
      const { until, eased, reason } = meta.wait;
      const isOwnWait = reason === 'backoff' || reason === 'offline';
      if (eased || !isOwnWait || until <= clock.now()) return null;
      meta.wait = { ...meta.wait, until: clock.now(), eased: true };
      return { writes: [], result: true };
    });
  const begin = async () => {
    if (!isAllowed()) return;
    if (clock.monotonic() - expiredAt > EXPIRE_MS) {
      const before = ahead;
      expiredAt = clock.monotonic();
      ahead = clock.now() - expiredAt;
      // A clock that leapt may be wrong for a while, and what is given up is lost: the next look believes it.
      if (ahead - before < LEAP_MS) await expire();
    }
    look();
  };
  const awake = () => {
    signs += 1;
    if (!isAllowed()) return;
    retry();
    void ease().then(begin).catch(onFailed);
  };
  const stops = SIGNS.map((sign) => lifecycle.on(sign, awake));

  return {
    /** A page that starts is no sign of life: a backoff of an earlier one goes on. */
    start: () => void begin().catch(onFailed),
    awake,
    /** How many there were. */
    signs: () => signs,
    stop() {
      for (const stop of stops) stop();
    },
  };
};
