import type { SYNC_PATH } from '../../protocol/index.ts';
import type { SessionPart, SessionPartOptions } from '../session-part.ts';

/** Repeated, because a module that two deferred chunks share breaks on pages that extend `Object.prototype`. */
const PATH: typeof SYNC_PATH = '/v1/device-messaging/banners/sync';
/** Delay before the first check, in milliseconds. Later delays come from the service. */
const FIRST_MS = 5_000;
/** Delay after a failure, in milliseconds. */
const RETRY_MS = 60_000;
/** Maximum placements of a request. */
const MAX_PLACEMENTS = 10;

/**
 * Checks for changed campaigns while the page is visible, without a charge to the refresh budget. Removes banners of stopped
 * campaigns even in view, like expired ones. It is a separate chunk that loads only with `liveUpdates()`.
 */
export const create = (options: SessionPartOptions): SessionPart => {
  const { settings, permission, placements, lifecycle, userTokens, scheduler } = options;
  const { inBackground, readBanners, post, fail } = options;
  const { appId, appVersion, deviceId, platform } = settings;
  const { now, after, random } = platform;
  /** Release of the banners on this page. Not stored, because another page may show other placements. */
  let release: string | undefined;
  /** Number of calls of `start()` and `stop()`. A response from before the last call belongs to a former user. */
  let starts = 0;
  /** Whether a check waits until the page is visible. */
  let isWaiting = false;
  let cancel: (() => void) | undefined;

  const schedule = (delayMs: number): void => {
    cancel?.();
    cancel = after(delayMs, () => inBackground(check()));
  };

  const drawn = () =>
    placements.slots().flatMap(({ state: { banner, reason } }) => (banner && !reason ? [banner] : []));

  /** Makes one check. Returns the delay before the next one; `undefined` if the service does not request checks. */
  const request = async (userId: string, all: string[]): Promise<number | undefined> => {
    const start = starts;
    const requested = all.slice(0, MAX_PLACEMENTS);
    const token = await userTokens.get(userId);
    const fetchedAtMs = now();
    const { status, body } = await post(PATH, {
      external_user_id: userId,
      app_id: appId,
      app_version: appVersion,
      placements: requested,
      shown: drawn()
        .map(({ id }) => id)
        .slice(0, MAX_PLACEMENTS),
      ...(deviceId && { device_id: deviceId }),
      ...(token && { user_token: token }),
      ...(release !== undefined && { release }),
    });
    if (start !== starts) return undefined;
    if (status !== 200) throw new Error(`HTTP ${status}`);
    const { release: current, poll_seconds: seconds, banners, stopped } = Object(body);
    if (typeof current !== 'string' || !(seconds > 0)) return undefined;
    if (current !== release) {
      const byPlacement = readBanners(requested, Object(banners));
      release = current;
      scheduler.onResponse({ userId, banners: byPlacement, fetchedAtMs, clockSkewMs: undefined });
      for (const placementId of all.slice(MAX_PLACEMENTS)) scheduler.queue(placementId);
      // Expired banners may leave while in view.
      for (const banner of drawn()) if ([stopped].flat().includes(banner.id)) banner.expiresAt = 0;
      placements.updateAll();
    }
    // Spreads the checks of pages that were opened at the same moment.
    return seconds * 1_000 * (0.9 + random() / 5);
  };

  const check = async (): Promise<void> => {
    const userId = permission.userId();
    const all = [...scheduler.requested()];
    isWaiting = !lifecycle.isVisible();
    if (isWaiting || !permission.isActive() || userId === null) return;
    if (all.length === 0) return schedule(FIRST_MS);
    const start = starts;
    const delayMs = await request(userId, all).catch((cause) => {
      if (start === starts) fail('sync', `The check for changed campaigns failed: ${cause}`, cause);
      return RETRY_MS;
    });
    if (start === starts && delayMs !== undefined) schedule(delayMs);
  };

  const unsubscribe = lifecycle.on('visible', () => {
    if (isWaiting) inBackground(check());
  });

  return {
    start(): void {
      starts += 1;
      release = undefined;
      schedule(FIRST_MS);
    },
    stop(): void {
      starts += 1;
      cancel?.();
      unsubscribe();
    },
  };
};
