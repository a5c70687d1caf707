import type { EventType } from '../banner-event.ts';

/** What an event is worth when not all can be kept: a lost dismissal shows the banner again, impressions are many. */
export const EVENT_VALUE: Record<EventType, number> = { impression: 0, click: 1, dismiss: 2 };
