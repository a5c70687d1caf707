import { type EventType, parseInstant, type WireEvent } from '../protocol/index.ts';

/** Banner event as stored by the service. */
export interface DeliveredEvent {
  userId: string;
  bannerId: string;
  type: EventType;
  /** `button_id` of a click; `null` if none. */
  buttonId: string | null;
  /** Timestamp as sent. `time` is the instant in Unix milliseconds. */
  timestamp: string;
  time: number;
  /** Number of times the event was accepted. A service with deduplication stores it only once. */
  copies: number;
}

/** Returns the deduplication key of an event: user, banner, type and instant. */
export const eventKey = (event: {
  userId: string;
  bannerId: string;
  type: EventType;
  time: number;
}): string => JSON.stringify([event.userId, event.bannerId, event.type, event.time]);

/** Creates a log of stored events, in order of arrival. With `deduplicates: false`, duplicates are stored again. */
export const createEventLog = ({ deduplicates }: { deduplicates: boolean }) => {
  const events: DeliveredEvent[] = [];
  const byKey = new Map<string, DeliveredEvent>();
  return {
    events,
    take(userId: string, sent: WireEvent[]): void {
      for (const { id, event_type, timestamp, button_id: buttonId = null } of sent) {
        const event = {
          userId,
          bannerId: id,
          type: event_type,
          buttonId,
          timestamp,
          time: parseInstant(timestamp) ?? Number.NaN,
          copies: 1,
        };
        const earlier = byKey.get(eventKey(event));
        if (earlier !== undefined) earlier.copies += 1;
        if (earlier === undefined || !deduplicates) events.push(event);
        if (earlier === undefined) byKey.set(eventKey(event), event);
      }
    },
    clear(): void {
      events.length = 0;
      byKey.clear();
    },
  };
};
