import type { BannerEvent, Diagnostics } from '../client/index.ts';
import { type DeliveredEvent, eventKey } from './event-log.ts';

type Captured = Pick<BannerEvent, 'userId' | 'bannerId' | 'type' | 'time'>;
type Stored = Pick<DeliveredEvent, 'userId' | 'bannerId' | 'type' | 'time'>;

/** Thrown by the matchers. Works with any test runner. */
export class DeliveryMismatch extends Error {
  override readonly name = 'DeliveryMismatch';
}

const describe = ({ userId, type, bannerId, time }: Captured): string =>
  `${type} of ${bannerId} by ${userId} at ${new Date(time).toISOString()}`;

const list = (title: string, events: Captured[]): string[] =>
  events.length === 0 ? [] : [`${title} (${events.length}): ${events.map(describe).join('; ')}`];

const counts = (events: Captured[]): Map<string, number> => {
  const byKey = new Map<string, number>();
  for (const event of events) byKey.set(eventKey(event), (byKey.get(eventKey(event)) ?? 0) + 1);
  return byKey;
};

/** Throws `DeliveryMismatch` unless the service stored each captured event exactly once, and no other events. */
export const assertDeliveredExactlyOnce = (stored: Stored[], captured: Captured[]): void => {
  const [storedCounts, capturedCounts] = [counts(stored), counts(captured)];
  const problems = [
    ...list(
      'captured twice under one key',
      captured.filter(
        (event, at) => capturedCounts.get(eventKey(event))! > 1 && captured.indexOf(event) === at,
      ),
    ),
    ...list(
      'lost',
      captured.filter((event) => !storedCounts.has(eventKey(event))),
    ),
    ...list(
      'stored more than once',
      stored.filter((event) => storedCounts.get(eventKey(event))! > 1),
    ),
    ...list(
      'never captured',
      stored.filter((event) => !capturedCounts.has(eventKey(event))),
    ),
  ];
  if (problems.length > 0) throw new DeliveryMismatch(problems.join('\n'));
};

/** Throws `DeliveryMismatch` unless the events of each user were stored in chronological order. */
export const assertDeliveredInOrder = (stored: Stored[]): void => {
  const last = new Map<string, Stored>();
  for (const event of stored) {
    const before = last.get(event.userId);
    if (before !== undefined && before.time > event.time) {
      throw new DeliveryMismatch(`${describe(before)} was stored before ${describe(event)}`);
    }
    last.set(event.userId, event);
  }
};

/** Throws `DeliveryMismatch` unless every captured event is accounted for in `diagnostics()`. */
export const assertConserved = (diagnostics: Diagnostics): void => {
  const { captured, delivered, pending, inDoubt, deadLetters, discarded, evicted, expired, purged } =
    diagnostics;
  const parts = { delivered, pending, inDoubt, deadLetters, discarded, evicted, expired, purged };
  const sum = Object.values(parts).reduce((total, part) => total + part, 0);
  if (sum !== captured) {
    throw new DeliveryMismatch(`captured ${captured}, but the sum is ${sum}: ${JSON.stringify(parts)}`);
  }
};
