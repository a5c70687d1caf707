import type { Lookup } from '../profiles/user-set.ts';
import type { UserWork } from '../store/store.ts';
import { addAttributeLookups, applyAttributes } from './apply-attributes.ts';
import type { CheckedAttributes } from './check-attributes.ts';
import type { CheckedEvent } from './check-event.ts';
import { dayOf } from './dates.ts';
import { createUserFinder } from './find-user.ts';
import { recordEvent } from './record-event.ts';

/** What a request of `/users/track` does, after every check. */
export interface Track {
  workspaceId: string;
  /** When the request came, in Unix milliseconds. */
  nowMs: number;
  attributes: CheckedAttributes[];
  /** Events, then purchases. */
  events: CheckedEvent[];
  /** False where a nested value anywhere in the request was bad. */
  nestedAllowed: boolean;
}

/** Attributes, events, purchases, in this order. Answers the positions in `events` of those that were refused. */
export const trackWork = (track: Track): UserWork<number[]> => {
  const { workspaceId, nowMs, attributes, events, nestedAllowed } = track;
  const lookups: Lookup[] = [];
  for (const checked of attributes) addAttributeLookups(checked, lookups);
  for (const { identity } of events) lookups.push(identity.lookup);
  return {
    workspaceId,
    lookups,
    nowMs,
    apply(users) {
      const finder = createUserFinder(users);
      let points = applyAttributes(users, attributes, { finder, nowMs, nestedAllowed });
      const refused: number[] = [];
      for (const [position, event] of events.entries()) {
        const outcome = recordEvent(users, event, { finder, nowMs });
        if (outcome === 'recorded') points += 1;
        if (outcome === 'refused') refused.push(position);
      }
      if (points > 0) users.addDataPoints(points, dayOf(nowMs));
      return refused;
    },
  };
};
