import type { InputArray } from '../protocol/index.ts';
import { readAttributesUser, readUserEvent } from '../protocol/schemas/index.ts';

/** The faults of an object of `users/track`, and whether it is taken all the same. */
export interface Verdict {
  problems: string[];
  isTaken: boolean;
}

const NO_USER_IS_BLOCKED: ReadonlySet<string> = new Set();

/** Judges an object as the service does. The values of single attributes are let through. */
export const judgeObject = (array: InputArray, object: unknown): Verdict => {
  const problems: string[] = [];
  const faults = { add: (type: string) => problems.push(type) };
  const read =
    array === 'attributes'
      ? readAttributesUser(object, NO_USER_IS_BLOCKED, faults)
      : readUserEvent(object, array === 'events' ? 'event' : 'purchase', NO_USER_IS_BLOCKED, faults);
  return { problems, isTaken: read !== null };
};
