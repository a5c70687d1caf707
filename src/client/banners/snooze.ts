import type { Banner } from '../banner.ts';
import type { LateContext } from '../late-context.ts';

const HOUR_MS = 60 * 60_000;
/** At most so many snoozes are kept; the oldest gives way. */
const MAX_SNOOZES = 100;

/**
 * Hides a banner for so many hours, or for as many as its property `max_snooze_hours` allows. No event is made, so no server needs to know
 * of it: the user's record keeps until when. The record keeps the banner as well, which comes back without a sync.
 */
export const createSnooze =
  (context: Pick<LateContext, 'user' | 'cache' | 'isActive' | 'fail'>, notifyTabs: () => void) =>
  async (banner: Banner, hours: number): Promise<void> => {
    const { user, cache, isActive, fail } = context;
    const { id, placementId, properties } = banner;
    const bounded = Math.min(hours, properties['max_snooze_hours']?.value as number);
    const userId = user.id();
    // Not above 0 also where one of the two is missing or no number.
    if (!(bounded > 0)) {
      fail('config', `"${id}" has no number "max_snooze_hours", or ${hours} hours are no snooze`);
      return;
    }
    if (!isActive() || userId === null || !cache.isGiven(banner)) return;
    cache.sendAway(banner);
    // In the sandbox it leaves as a dismissal does. A listener may have changed the user.
    if (cache.isIntercepted({ type: 'dismiss', bannerId: id, placementId, userId }) || user.id() !== userId)
      return;
    const nowMs = cache.now();
    await cache.change((record) => {
      const others = [...(record.snoozed ?? [])].filter(([other, until]) => other !== id && until > nowMs);
      record.snoozed = new Map([...others, [id, nowMs + bounded * HOUR_MS] as const].slice(-MAX_SNOOZES));
    });
    notifyTabs();
  };
