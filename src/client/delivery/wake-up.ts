import type { Clock } from '../platform/clock.ts';
import type { Moment, PageLifecycle } from '../platform/page-lifecycle.ts';
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
  let expiredAt = Number.NEGATIVE_INFINITY;
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
    if (clock.now() - expiredAt > EXPIRE_MS) {
      expiredAt = clock.now();
      await expire();
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
