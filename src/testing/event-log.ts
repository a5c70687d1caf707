import { type EventType, parseInstant, type WireEvent } from '../protocol/index.ts';

/** A banner event as the service stored it. */
export interface DeliveredEvent {
  userId: string;
  bannerId: string;
  type: EventType;
  /** Text as sent, and the instant it stands for in Unix milliseconds. */
  timestamp: string;
  time: number;
  /** How often it was taken. Where the service removes repeats it is stored once all the same. */
  copies: number;
}

/** The natural key of an event: user, banner, type and instant. */
export const eventKey = (event: {
  userId: string;
  bannerId: string;
  type: EventType;
  time: number;
}): string => JSON.stringify([event.userId, event.bannerId, event.type, event.time]);

/** What arrived, in order of arrival. With `deduplicates: false` it counts like a service without de-duplication. */
export const createEventLog = ({ deduplicates }: { deduplicates: boolean }) => {
  const events: DeliveredEvent[] = [];
  const byKey = new Map<string, DeliveredEvent>();
  return {
    events,
    take(userId: string, sent: WireEvent[]): void {
      for (const { id, event_type, timestamp } of sent) {
        const event = {
          userId,
          bannerId: id,
          type: event_type,
          timestamp,
          time: parseInstant(timestamp) ?? Number.NaN,
          copies: 1,
        };
        const known = byKey.get(eventKey(event));
        if (known !== undefined) known.copies += 1;
        if (known === undefined || !deduplicates) events.push(event);
        if (known === undefined) byKey.set(eventKey(event), event);
      }
    },
    clear(): void {
      events.length = 0;
      byKey.clear();
    },
  };
};
