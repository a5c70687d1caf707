import { USERS_TRACK_PATH } from '../protocol/index.ts';
import { ApiError, InDoubtError } from './api-error.ts';
import type { Call } from './call.ts';
import { cutBatches, type TrackBatch } from './track-batches.ts';
import { type Many, readTrackInput, type TrackInput, type TrackObject } from './track-input.ts';
import {
  emptyReport,
  positionsOf,
  readAnswer,
  refusedBatch,
  type TrackPosition,
  type TrackProblem,
  type TrackReport,
  TrackStoppedError,
} from './track-report.ts';

/** How fast and how long `track` sends. */
export interface TrackOptions {
  /** Requests under way at once. Two that may concern the same user never are. Default 4. */
  concurrency?: number;
  /**
   * When an answer is lost, `'report'` (default) sends events, purchases and counting attributes no second time and lists them in
   * `inDoubt`; `'repeat'` sends them again, which may count them twice.
   */
  lostAnswers?: 'report' | 'repeat';
  /** Receives every problem as it comes; with a long stream there is no need to wait for the report. What it throws stops the sending. */
  onProblem?: (problem: TrackProblem) => void;
  /**
   * Receives the positions of a request right before each attempt to send it, and again once its end is known. For callers
   * that go on after a crash: a request that has begun and not ended is in doubt. What it throws stops the sending.
   */
  onRequest?: (state: RequestState, positions: TrackPosition[]) => void;
  signal?: AbortSignal;
}

/**
 * `settled`: answered, whatever the answer says of each object. `in doubt`: its answer was never read, and it is not sent
 * again. `not taken`: nothing of it was applied; another attempt may follow.
 */
export type RequestState = 'begun' | 'settled' | 'in doubt' | 'not taken';

/** So many lost answers one after another mean that there is no connection. */
const MAX_IN_DOUBT_RUN = 3;

/**
 * Sends everything, 75 objects a request; what has waited for others for a second goes without them. Objects of one user
 * keep their order: a request waits for every earlier one that may concern one of its users. Throws `TrackStoppedError` when it cannot go on.
 */
export const trackAll = async (
  call: Call,
  input: TrackInput | Many<TrackObject>,
  options: TrackOptions = {},
): Promise<TrackReport> => {
  const { concurrency = 4, lostAnswers = 'report', signal } = options;
  const { onProblem = () => undefined, onRequest = () => undefined } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new TypeError(`concurrency must be a whole number of at least 1, not ${concurrency}`);
  }
  const report = emptyReport();
  const unsent: TrackPosition[] = [];
  /** Aborted when sending stops: an input may be silent for hours, and the caller must not wait for it. */
  const ending = new AbortController();
  const { items, read } = readTrackInput(
    input,
    signal ? AbortSignal.any([signal, ending.signal]) : ending.signal,
  );
  const underWay = new Map<Promise<void>, TrackBatch>();
  let stopped: { cause: unknown } | undefined;
  let inDoubtRun = 0;

  const stop = (cause: unknown) => {
    stopped ??= { cause };
    ending.abort(cause);
  };
  /** What a callback throws stops the sending, but says nothing about the request that it was called for. */
  const callBack = (call: () => void) => {
    try {
      call();
    } catch (error) {
      stop(error);
    }
  };
  const addProblems = (problems: TrackProblem[]) => {
    report.problems.push(...problems);
    for (const problem of problems) callBack(() => onProblem(problem));
  };
  /** For an object that is never sent. Here the reading ends too: an input of such objects alone never makes a request. */
  const refuse = (problem: TrackProblem) => {
    addProblems([problem]);
    if (stopped) throw stopped.cause;
  };

  const failed = (error: unknown, batch: TrackBatch, mayBeTaken: boolean): RequestState => {
    if (error instanceof ApiError && [400, 413].includes(error.status)) {
      // After a lost answer too: what the same body is refused for now, it was refused for then.
      report.requests += 1;
      addProblems(refusedBatch(error.errors, error.serverMessage ?? error.message, batch));
      return 'settled';
    }
    const isInDoubt = error instanceof InDoubtError;
    if (isInDoubt) inDoubtRun += 1;
    if (!isInDoubt || inDoubtRun >= MAX_IN_DOUBT_RUN) stop(error);
    if (!isInDoubt && !mayBeTaken) {
      unsent.push(...positionsOf(batch));
      return 'not taken';
    }
    report.requests += 1;
    report.inDoubt.push(...positionsOf(batch));
    return 'in doubt';
  };

  const send = async (batch: TrackBatch): Promise<void> => {
    const positions = positionsOf(batch);
    let answerLost = false;
    let state: RequestState = 'settled';
    try {
      const answer = await call({
        method: 'POST',
        path: USERS_TRACK_PATH,
        body: batch.body,
        resetKind: 'delta-seconds',
        repeatable: batch.repeatable || lostAnswers === 'repeat',
        onLostAnswer: () => {
          answerLost = true;
        },
        onAttempt: () => onRequest('begun', positions),
        onNotTaken: () => {
          if (!answerLost) onRequest('not taken', positions);
        },
        signal,
      });
      inDoubtRun = 0;
      report.requests += 1;
      addProblems(readAnswer(answer.body, batch, report));
    } catch (error) {
      state = failed(error, batch, answerLost);
    }
    callBack(() => onRequest(state, positions));
  };

  const sharesUser = (batch: TrackBatch, other: TrackBatch): boolean =>
    [...batch.users].some((user) => other.users.has(user));

  try {
    for await (const batch of cutBatches(items, refuse)) {
      // Not when an item was read: the batch that is still being filled is lost when sending stops.
      for (const { array, index } of positionsOf(batch)) report.consumed[array] = index + 1;
      for (;;) {
        const rivals = [...underWay]
          .filter(([, other]) => sharesUser(batch, other))
          .map(([sending]) => sending);
        if (rivals.length > 0) await Promise.all(rivals);
        else if (underWay.size >= concurrency) await Promise.race(underWay.keys());
        else break;
      }
      if (stopped || signal?.aborted) {
        unsent.push(...positionsOf(batch));
        stop(signal?.reason);
        break;
      }
      const sending: Promise<void> = send(batch).finally(() => underWay.delete(sending));
      underWay.set(sending, batch);
    }
    if (!stopped) report.consumed = read;
  } catch (error) {
    // The input itself failed: what was read before it still counts.
    stop(error);
  }
  await Promise.all(underWay.keys());
  if (stopped) throw new TrackStoppedError(stopped.cause, report, unsent);
  return report;
};
