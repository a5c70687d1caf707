import { HOUR_MS } from '../../protocol/index.ts';
import type { Banner } from '../banner.ts';
import type { DeferredContext } from '../deferred-context.ts';

/** Maximum number of snoozes. The oldest is dropped first. */
const MAX_SNOOZES = 100;

/**
 * Hides a banner for `hours`, at most the number in its property `max_snooze_hours`. Sends no event. The user's record keeps the
 * end time and the banner, which comes back without a sync.
 */
export const createSnooze =
  (context: Pick<DeferredContext, 'permission' | 'cache' | 'fail'>, notifyTabs: () => void) =>
  async (banner: Banner, hours: number): Promise<void> => {
    const { permission, cache, fail } = context;
    const { id, placementId, properties } = banner;
    const bounded = Math.min(hours, properties['max_snooze_hours']?.value as number);
    const userId = permission.userId();
    // Also false if `hours` or the property is missing or not a number.
    if (!(bounded > 0)) {
      fail('config', `"${id}" has no number "max_snooze_hours", or ${hours} hours is invalid`);
      return;
    }
    if (!permission.isActive() || userId === null || !cache.wasReturned(banner)) return;
    cache.hide(banner);
    // In the sandbox, the banner is hidden as on a dismissal. A listener may have changed the user.
    if (
      cache.passToInterceptor({ type: 'dismiss', bannerId: id, placementId, userId }) ||
      permission.userId() !== userId
    )
      return;
    const nowMs = cache.now();
    await cache.change((record) => {
      const others = [...(record.snoozed ?? [])].filter(([other, until]) => other !== id && until > nowMs);
      record.snoozed = new Map([...others, [id, nowMs + bounded * HOUR_MS] as const].slice(-MAX_SNOOZES));
    });
    notifyTabs();
  };
