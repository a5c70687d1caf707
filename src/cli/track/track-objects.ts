import {
  isIdempotent,
  type RequestState,
  type TrackObject,
  type TrackPosition,
  type TrackProblem,
} from '../../server/index.ts';
import type { InputLine } from './input-line.ts';
import type { Listing } from './listing.ts';
import type { Range, ResumeFile } from './resume-file.ts';

/** Position of an object in the input. */
interface Origin {
  line: number;
  object: unknown;
  /** Position in the array of its line, if any. */
  index: number | undefined;
  /** Name in messages: `line 7` for the last object of a line, else `object 2 of line 7`. */
  name: string;
}

const IN_DOUBT = 'in doubt: no response arrived, it may be stored or not';

/**
 * Numbers the objects of the input from 0 and tracks the origin of objects in flight. Lines without a valid object also have a
 * number, so that numbering is the same in every run.
 */
export const createTrackObjects = (listing: Listing, resume: ResumeFile | undefined) => {
  const origins = new Map<number, Origin>();
  let next = 0;
  let processed = 0;
  let sentBefore = 0;
  let last = -1;
  let lastName: string | undefined;

  const list = (
    facts: { line?: number; array?: string; index?: number | undefined },
    reason: string,
    object?: unknown,
  ) => listing.add({ ...facts, reason }, object);
  const listPosition = ({ array, index: number }: TrackPosition, reason: string) => {
    const { line, index, object } = origins.get(number)!;
    list({ line, array, index }, reason, object);
  };
  const note = (positions: TrackPosition[]) => {
    const highest = getRange(positions)[1];
    if (highest <= last) return;
    last = highest;
    lastName = origins.get(highest)!.name;
  };
  const end = (positions: TrackPosition[]) => {
    resume?.settled(getRange(positions));
    for (const { index } of positions) origins.delete(index);
    processed += positions.length;
  };

  return {
    /** Returns the number of objects whose request has ended. */
    processed: () => processed,
    /** Returns the number of objects that an earlier run sent. */
    sentBefore: () => sentBefore,
    /** Returns the name of the last object up to which all objects are sent or listed; `undefined` if none. */
    lastName: () => lastName,

    /** Yields the objects to send. Lists invalid objects and skips objects that an earlier run sent. */
    async *toSend(lines: AsyncIterable<InputLine>): AsyncGenerator<TrackObject, void> {
      for await (const content of lines) {
        const { line } = content;
        if ('reason' in content) {
          const number = next++;
          if (resume?.isSettled(number)) continue;
          const { array, reason, object } = content;
          list({ line, ...(array !== undefined && { array }) }, reason, object);
          resume?.settled([number, number]);
          continue;
        }
        for (const [position, { array, object, index }] of content.objects.entries()) {
          const number = next++;
          if (resume?.isSettled(number)) sentBefore += 1;
          else if (resume?.isInDoubt(number) && !isIdempotent({ array, object })) {
            list({ line, array, index }, IN_DOUBT, object);
            resume.settled([number, number]);
          } else {
            const isLast = position === content.objects.length - 1;
            const name = isLast ? `line ${line}` : `object ${position + 1} of line ${line}`;
            origins.set(number, { line, object, index, name });
            yield { array, object: object as TrackObject['object'], index: number };
          }
        }
      }
    },

    problem({ position, reason }: TrackProblem): void {
      if (!position) {
        list({}, reason);
        return;
      }
      listPosition(position, reason);
      // Records an object rejected before sending, because it is in no request.
      resume?.settled([position.index, position.index]);
    },

    request(state: RequestState, positions: TrackPosition[]): void {
      note(positions);
      if (state === 'started') resume?.begun(getRange(positions));
      else if (state === 'not_sent') resume?.notTaken(getRange(positions));
      else {
        if (state === 'in_doubt') for (const position of positions) listPosition(position, IN_DOUBT);
        end(positions);
      }
    },

    /** Lists objects that were not sent, unless a resumed run can send them. */
    unsent(positions: TrackPosition[]): void {
      if (positions.length === 0) return;
      note(positions);
      if (!resume) for (const position of positions) listPosition(position, 'not sent');
    },
  };
};

export type TrackObjects = ReturnType<typeof createTrackObjects>;

/** Returns the range of a request. Objects are ordered within an array, but not across arrays. */
const getRange = (positions: TrackPosition[]): Range => {
  const numbers = positions.map(({ index }) => index);
  return [Math.min(...numbers), Math.max(...numbers)];
};
